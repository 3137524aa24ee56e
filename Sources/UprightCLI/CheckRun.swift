internal import ArgumentParser
internal import Glibc
internal import Synchronization
internal import UprightOrientation
internal import UprightMedia
internal import UprightPolicy

/// Checks many files in child processes, and prints the results in the order of the files. Memory doesn't grow with
/// their number, but for the names of mended files.
struct CheckRun {
  let walk: CheckWalk
  /// The folder of mended files; `nil` if none are written or they are changed in place.
  let folder: String?
  let jobs: Int
  let isJSON: Bool
  /// Whether only problems and failures are printed.
  let isQuiet: Bool
  let jsonErrors: Bool
  /// How files are mended; `nil` if they are only checked.
  let repair: CheckJob.Repair?

  /// The files that one set of child processes works on.
  private static let portion = 4096

  /// What was printed, and what waits for the results of files before it.
  private struct State {
    var tally = CheckTally()
    /// The results of the present files by index, from `next` on.
    var waiting: [Int: Batch.Outcome] = [:]
    var next = 0
    var isFirst = true
    var failure: Failure?
    /// Why nothing can be printed any more.
    var error: UprightError?
    var batch: Batch?
    var isStopped = false
  }

  /// The state is shared with the threads of a batch.
  private final class Shared: Sendable {
    let state = Mutex(State())
  }

  /// - Throws: The exit status: the signal's, that of the first failure, or 1 if something is wrong.
  func run() throws {
    let shared = Shared()
    watch(shared)
    var (walk, outputs) = (walk, Set<String>())
    if isJSON { try StandardOutput.write("{\"files\": [") }
    while !shared.state.withLock({ $0.isStopped || $0.error != nil }) {
      var found: [CheckWalk.Found] = []
      while found.count < Self.portion, let file = walk.next() { found.append(file) }
      if found.isEmpty { break }
      process(found, &outputs, shared)
    }
    if let error = shared.state.withLock({ $0.error }) { throw error }
    let (tally, failure, isFirst) = shared.state.withLock { ($0.tally, $0.failure, $0.isFirst) }
    if isJSON {
      try StandardOutput.write(
        (isFirst ? "" : "\n") + "], \"summary\": \(tally.json(isRepair: repair != nil).compact)}\n")
    } else if !isQuiet, tally.failed < tally.files {
      try StandardOutput.write(tally.text(isRepair: repair != nil))
    }
    if let status = Interruption.shared.status { throw ExitCode(status) }
    if let failure { throw ExitCode(failure.status) }
    if tally.files == 0 {
      throw UprightError(
        .noInput, "there are no media files", at: "check",
        remedy: "name a folder with media files, or name the files")
    }
    if repair != nil ? tally.unmended > 0 : tally.wrong > 0 { throw CheckCommand.wrong }
  }

  private func watch(_ shared: Shared) {
    Interruption.shared.watch(
      first: {
        shared.state.withLock { $0.isStopped = true }
        shared.state.withLock { $0.batch }?.stop()
      },
      second: {
        shared.state.withLock { $0.batch }?.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
  }

  /// Returns the files with their outputs. The output is empty if another file has its name.
  ///
  /// - Parameter outputs: The outputs of the files before them.
  private func items(
    of found: [CheckWalk.Found], _ outputs: inout Set<String>
  ) -> [Result<InputList.Item, UprightError>] {
    var names: [Int: String] = [:]
    // The names of files that keep theirs go before those of files that get another container.
    for isKept in [true, false] {
      for (index, file) in found.enumerated() {
        guard let folder, let repair, file.error == nil,
          case let name = repair.output(file.relative), (name == file.relative) == isKept
        else { continue }
        let choices = isKept ? [name] : [name, file.relative + ".mp4"]
        names[index] =
          choices.map { FilePath(folder).appending($0).standardized.path }
          .first { outputs.insert($0).inserted } ?? ""
      }
    }
    return found.enumerated().map { index, file in
      if let error = file.error { return .failure(error) }
      let output = folder == nil || repair == nil ? file.path : names[index] ?? ""
      return .success(InputList.Item(input: file.path, output: output))
    }
  }

  private func process(
    _ found: [CheckWalk.Found], _ outputs: inout Set<String>, _ shared: Shared
  ) {
    let batch = Batch(items(of: found, &outputs), setup: .null, jobs: jobs)
    let isStopped = shared.state.withLock { state in
      (state.batch, state.next, state.waiting) = (batch, 0, [:])
      return state.isStopped
    }
    if isStopped { return }
    _ = batch.run { [self] index, update in
      guard case .ended(let outcome) = update else { return }
      shared.state.withLock { state in
        state.waiting[index] = outcome
        while let next = state.waiting.removeValue(forKey: state.next) {
          print(next, of: found[state.next], &state)
          state.next += 1
        }
      }
    }
    shared.state.withLock { $0.batch = nil }
  }

  // MARK: - Output

  private func print(_ outcome: Batch.Outcome, of file: CheckWalk.Found, _ state: inout State) {
    do throws(UprightError) {
      switch outcome {
      case .notStarted: break
      case .failed(let error):
        state.tally.addFailure()
        let isNamed = error.location.contains(file.path)
        let place = error.location.isEmpty ? file.path : "\(file.path), \(error.location)"
        let failure = Failure(
          UprightError(
            error.code, error.message, at: isNamed ? error.location : place,
            remedy: error.remedy), of: UprightCommand.self, asJSON: jsonErrors)
        failure.print()
        state.failure = state.failure ?? failure
        let entry: JSONValue = ["path": .string(file.path), "error": failure.json]
        if isJSON { try write(entry, &state) }
      case .done(let result):
        state.tally.add(result.report)
        if isJSON {
          try write(result.report, &state)
        } else if !isQuiet || result.report["problems"] != .array([]) {
          try StandardOutput.write(result.text + "\n")
        }
      }
    } catch {
      state.error = state.error ?? error
      state.batch?.stop()
    }
  }

  private func write(_ entry: JSONValue, _ state: inout State) throws(UprightError) {
    try StandardOutput.write((state.isFirst ? "\n" : ",\n") + entry.compact)
    state.isFirst = false
  }
}
