internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMediaIO
internal import UprightPipeline

/// Several inputs in one command. Every message names its input. There is one exit status for all of them.
struct BatchRun {
  let items: [InputList.Item]
  /// The session of each input, or the error that prevented it.
  let sessions: [Result<any BatchedSession, UprightError>]
  let jobs: Int
  let common: RunArguments
  let progress: ProgressStyle
  /// Prints the result of the input with a name.
  var summary: @Sendable (TranscodeReport, String) -> Void = { Summary.print($0, of: $1) }

  /// Runs all sessions. Errors are printed as they occur.
  ///
  /// - Throws: The exit status, if it isn't 0: the signal's, or else that of the first failed input, in the
  ///   order of the inputs.
  func run(report: ReportFile?) throws {
    let batch = Batch(sessions, jobs: jobs)
    Interruption.shared.watch(
      first: { batch.stop() },
      second: {
        batch.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
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
    if !common.output.quiet { printSummary(outcomes, seconds: elapsed / .seconds(1)) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
    try throwFirst(outcomes.indices.compactMap { failure(outcomes[$0], of: $0) })
  }

  /// `--dry-run`: prints the plan of each session.
  ///
  /// - Throws: The same as `run`.
  func printPlans(of sessions: [Result<TranscodeSession, UprightError>]) throws {
    var failures: [Failure] = []
    for (index, session) in sessions.enumerated() {
      do throws(UprightError) {
        let lines = try session.get().plan().lines
        try StandardOutput.write(
          (index > 0 ? "\n" : "") + lines.map { $0.printable + "\n" }.joined())
      } catch {
        let failure = self.failure(error, of: index)
        failure.print()
        failures.append(failure)
      }
    }
    try throwFirst(failures)
  }

  private func throwFirst(_ failures: [Failure]) throws {
    if let first = failures.first { throw ExitCode(first.status) }
  }

  // MARK: - One input

  private func printResult(_ outcome: Batch.Outcome, of index: Int) {
    switch outcome {
    case .done(let result):
      if !common.output.quiet { summary(result, items[index].input) }
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
      of: UprightCommand.self, asJSON: common.output.messages.jsonErrors)
  }

  /// Returns an input's entry in the report: the same object as in a report of one input, or its error.
  private func reportEntry(_ outcome: Batch.Outcome, of index: Int) -> JSONValue {
    let error: UprightError
    switch outcome {
    case .done(let result): return result.json
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
        frames += result.output.frames
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
