internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMediaIO
internal import UprightMedia

/// Several inputs in one command. Every message names its input. There is one exit status for all of them.
struct BatchRun {
  let items: [InputList.Item]
  /// The errors of inputs that are not begun, by index.
  var refusals: [Int: UprightError] = [:]
  let jobs: Int
  /// What the processes need besides the arguments.
  var setup = JSONValue.null
  /// Whether only errors are printed.
  var isQuiet = false
  let jsonErrors: Bool
  var progress = ProgressStyle.none

  /// Processes all inputs. Errors are printed as they occur.
  ///
  /// - Throws: The exit status, if it isn't 0: the signal's, or else that of the first failed input, in the
  ///   order of the inputs.
  func run(report: ReportFile?) throws {
    let batch = interruptible(finishing: true)
    let started = ContinuousClock.now
    let meter = BatchMeter(progress, inputs: items.map(\.input))
    let outcomes = batch.run { [self] index, update in
      switch update {
      case .progress(let progress): meter.show(progress, of: index)
      case .ended(let outcome): meter.end(index) { printResult(outcome, of: index) }
      }
    }
    try report?.write(.array(outcomes.indices.map { reportEntry(outcomes[$0], of: $0) }))
    let elapsed = started.duration(to: .now)
    if !isQuiet { printSummary(outcomes, seconds: elapsed / .seconds(1)) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
    try throwFirst(outcomes.indices.compactMap { failure(outcomes[$0], of: $0) })
  }

  /// Processes all inputs and prints the text of each on standard output, in their order.
  ///
  /// - Parameter asJSON: Whether to print the reports instead, as an array.
  /// - Throws: The same as `run`.
  func printTexts(asJSON: Bool = false) throws {
    let outcomes = interruptible(finishing: false).run()
    var isFirst = true
    for (index, outcome) in outcomes.enumerated() {
      failure(outcome, of: index)?.print()
      guard case .done(let result) = outcome else { continue }
      result.messages.forEach(StandardError.printLine)
      if asJSON { continue }
      try StandardOutput.write((isFirst ? "" : "\n") + result.text)
      isFirst = false
    }
    if asJSON {
      let entries = outcomes.indices.map { index -> JSONValue in
        if case .done(let result) = outcomes[index] { return result.report }
        return [
          "input": .string(items[index].input),
          "error": failure(outcomes[index], of: index)?.json ?? .null,
        ]
      }
      try StandardOutput.write(JSONValue.array(entries).pretty + "\n")
    }
    if let status = Interruption.shared.status { throw ExitCode(status) }
    try throwFirst(outcomes.indices.compactMap { failure(outcomes[$0], of: $0) })
  }

  /// Returns the batch, which ends with the first signal, or the second one if inputs in progress are to be finished.
  private func interruptible(finishing: Bool) -> Batch {
    var inputs: [Result<InputList.Item, UprightError>] = items.map { .success($0) }
    for (index, error) in refusals { inputs[index] = .failure(error) }
    let batch = Batch(inputs, setup: setup, jobs: jobs)
    Interruption.shared.watch(
      first: {
        if finishing { return batch.stop() }
        batch.abandon()
        _exit(Interruption.shared.status ?? 130)
      },
      second: {
        batch.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    return batch
  }

  private func throwFirst(_ failures: [Failure]) throws {
    if let first = failures.first { throw ExitCode(first.status) }
  }

  // MARK: - One input

  private func printResult(_ outcome: Batch.Outcome, of index: Int) {
    switch outcome {
    case .done(let result):
      if !isQuiet { result.messages.forEach(StandardError.printLine) }
    case .failed(let error): failure(error, of: index).print()
    case .notStarted: break
    }
  }

  private func failure(_ outcome: Batch.Outcome, of index: Int) -> Failure? {
    if case .failed(let error) = outcome { failure(error, of: index) } else { nil }
  }

  /// Adds the input's name to the error's location, if it names neither input nor output.
  private func failure(_ error: UprightError, of index: Int) -> Failure {
    let item = items[index]
    let isNamed = [item.input, item.output].contains { error.location.contains($0) }
    let place = error.location.isEmpty ? item.input : "\(item.input), \(error.location)"
    return Failure(
      UprightError(
        error.code, error.message, at: isNamed ? error.location : place, remedy: error.remedy),
      of: UprightCommand.self, asJSON: jsonErrors)
  }

  /// Returns an input's entry in the report: the same object as in a report of one input, or its error.
  private func reportEntry(_ outcome: Batch.Outcome, of index: Int) -> JSONValue {
    let error: UprightError
    switch outcome {
    case .done(let result): return result.report
    case .failed(let failed): error = failed
    case .notStarted:
      error = UprightError(
        .cancelled, "stopped before this input was started", at: items[index].input,
        remedy: "run it again")
    }
    return [
      "input": ["path": .string(items[index].input)],
      "output": ["path": .string(items[index].output)], "error": failure(error, of: index).json,
    ]
  }

  // MARK: - All inputs

  private func printSummary(_ outcomes: [Batch.Outcome], seconds: Double) {
    var (done, stopped, failed, waiting, frames) = (0, 0, 0, 0, 0)
    for outcome in outcomes {
      switch outcome {
      case .done(let result):
        if result.isPartial { stopped += 1 } else { done += 1 }
        frames += result.frames
      case .failed: failed += 1
      case .notStarted: waiting += 1
      }
    }
    var words = ["\(done) of \(outcomes.count) inputs done"]
    if stopped > 0 { words.append("\(stopped) stopped") }
    if failed > 0 { words.append("\(failed) failed") }
    if waiting > 0 { words.append("\(waiting) not started") }
    StandardError.printLine(
      "\(words.joined(separator: ", ")): \(frames.of("frame")) "
        + Summary.speed(frames: frames, seconds: seconds))
  }
}
