package import UprightOrientation
internal import Synchronization
package import UprightEncoding
internal import UprightMediaIO
internal import UprightPipeline

/// A session that a batch can run.
package protocol BatchedSession: Sendable {
  /// Runs to the end and returns a report. Blocks.
  func process(observing progress: @escaping (SessionProgress) -> Void) throws(UprightError)
    -> TranscodeReport

  /// Stops reading.
  func stop()

  /// Removes unfinished output.
  func abandon()
}

extension TranscodeSession: BatchedSession {
  package func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> TranscodeReport {
    try run { update in
      if case .progress(let update) = update { progress(update) }
    }
  }
}

extension TagSession: BatchedSession {
  package func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> TranscodeReport { try run() }
}

/// Transcodes or tags several inputs, some of them in parallel, each in a session with separate threads.
///
/// If one fails, the others continue. The inputs are started in order.
package final class Batch: Sendable {
  /// The outcome of one input.
  package enum Outcome: Sendable {
    /// The input was processed, up to where the batch was stopped.
    case done(TranscodeReport)
    /// The input failed and has no output.
    case failed(UprightError)
    /// The batch was stopped before this input was started.
    case notStarted
  }

  /// An update from a running batch.
  package enum Update: Sendable {
    /// The progress of an input.
    case progress(SessionProgress)
    /// An input ended.
    case ended(Outcome)
  }

  private typealias Worker = WorkThread<Void>

  /// Collects the outcomes from the workers.
  private final class Board: Sendable {
    private let all: Mutex<[Outcome]>

    init(_ count: Int) { all = Mutex(Array(repeating: .notStarted, count: count)) }

    var outcomes: [Outcome] { all.withLock { $0 } }

    func note(_ outcome: Outcome, of index: Int) { all.withLock { $0[index] = outcome } }
  }

  private let sessions: [Result<any BatchedSession, UprightError>]
  private let jobs: Int
  /// The index of the next input.
  private let next = Atomic(0)
  private let stopping = Atomic(false)

  /// - Parameters:
  ///   - sessions: Sessions that have not run, or errors for inputs that have already failed.
  ///   - jobs: The number of sessions that run in parallel, at least 1.
  package init(_ sessions: [Result<any BatchedSession, UprightError>], jobs: Int) {
    self.sessions = sessions
    self.jobs = max(1, min(jobs, sessions.count))
  }

  /// Whether `stop` was called.
  package var isStopped: Bool { stopping.load(ordering: .acquiring) }

  /// Stops reading. Running sessions finish their outputs so that they are playable, and no other input is
  /// started. Can be called on any thread.
  package func stop() {
    stopping.store(true, ordering: .releasing)
    for case .success(let session) in sessions { session.stop() }
  }

  /// Removes unfinished output. Use it if the process exits without waiting for `run`.
  package func abandon() {
    stopping.store(true, ordering: .releasing)
    for case .success(let session) in sessions { session.abandon() }
  }

  /// Processes all inputs and returns their outcomes, in the order of the inputs. Blocks. Must be called
  /// only once.
  ///
  /// - Parameter observe: Called with the index of an input, on any thread, possibly several at the same
  ///   time.
  package func run(
    observe: @escaping @Sendable (_ index: Int, Update) -> Void = { _, _ in }
  ) -> [Outcome] {
    let board = Board(sessions.count)
    let workers = (0..<jobs).map { _ in
      Worker(name: "upright-job") { [self] in
        while let index = take() {
          let outcome = outcome(of: index, observe)
          board.note(outcome, of: index)
          observe(index, .ended(outcome))
        }
      }
    }
    for worker in workers { _ = worker.join() }
    return board.outcomes
  }

  private func take() -> Int? {
    guard !isStopped else { return nil }
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < sessions.count ? index : nil
  }

  private func outcome(
    of index: Int, _ observe: @escaping @Sendable (Int, Update) -> Void
  ) -> Outcome {
    do throws(UprightError) {
      let report = try sessions[index].get().process(observing: { observe(index, .progress($0)) })
      return .done(report)
    } catch {
      // A session stopped before its first frame counts as not begun.
      return error.code == .cancelled && isStopped ? .notStarted : .failed(error)
    }
  }

  // MARK: - Parallelism

  /// Returns the default number of jobs: one for every two cores, since a session reads and decodes in
  /// parallel to turning and encoding. At least 2, and at most 8 to limit memory: a 1080p session holds some
  /// 0.3 GB.
  package static func standardJobs(cores: Int = Processors.count) -> Int {
    max(2, min(8, cores / 2))
  }

  /// Returns the number of codec threads per job, so that the jobs share the cores; 0, which lets the codecs
  /// choose, for a single job.
  package static func threads(
    jobs: Int, cores: Int = Processors.count
  ) -> Int {
    jobs > 1 ? max(1, cores / jobs) : 0
  }
}
