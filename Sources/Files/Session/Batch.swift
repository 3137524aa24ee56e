public import Foundation
internal import Synchronization
public import UprightEncoding
public import UprightMediaIO
internal import UprightPipeline

/// Several clips, some of them at a time, each in a session on threads of its own.
///
/// One that fails stops no other. The clips are begun in their order.
public final class Batch: Sendable {
  /// What became of one clip.
  public enum Outcome: Sendable {
    /// It was transcoded, up to where the batch was stopped.
    case done(TranscodeReport)
    /// It has no output.
    case failed(MediaError)
    /// The batch was stopped before its turn came.
    case notBegun
  }

  /// What a batch tells while it runs.
  public enum Update: Sendable {
    /// How far a clip is.
    case progress(SessionProgress)
    /// A clip is over.
    case ended(Outcome)
  }

  private typealias Worker = WorkThread<Void>

  /// Where the workers write down what became of each.
  private final class Board: Sendable {
    private let all: Mutex<[Outcome]>

    init(_ count: Int) { all = Mutex(Array(repeating: .notBegun, count: count)) }

    var outcomes: [Outcome] { all.withLock { $0 } }

    func note(_ outcome: Outcome, of index: Int) { all.withLock { $0[index] = outcome } }
  }

  private let clips: [Result<TranscodeSession, MediaError>]
  private let jobs: Int
  /// The clip that is begun next.
  private let next = Atomic(0)
  private let stopping = Atomic(false)

  /// - Parameters:
  ///   - clips: sessions that have not run; an error stands for a clip that has failed already.
  ///   - jobs: how many run at a time, 1 at least.
  public init(_ clips: [Result<TranscodeSession, MediaError>], jobs: Int) {
    self.clips = clips
    self.jobs = max(1, min(jobs, clips.count))
  }

  /// Whether `stop` was called.
  public var isStopped: Bool { stopping.load(ordering: .acquiring) }

  /// Stops reading: what is in flight is finished and closed so that it plays, and no other clip is
  /// begun. Any thread.
  public func stop() {
    stopping.store(true, ordering: .releasing)
    for case .success(let session) in clips { session.stop() }
  }

  /// Removes what is not finished. For a process that is about to end without waiting for `run`.
  public func abandon() {
    stopping.store(true, ordering: .releasing)
    for case .success(let session) in clips { session.abandon() }
  }

  /// Does the work and returns what became of each clip, in the order of the clips. Blocks; to be
  /// called once.
  ///
  /// - Parameter observe: told of the clip with that index, on any thread, several at a time.
  public func run(
    observe: @escaping @Sendable (_ index: Int, Update) -> Void = { _, _ in }
  ) -> [Outcome] {
    let board = Board(clips.count)
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
    return index < clips.count ? index : nil
  }

  private func outcome(
    of index: Int, _ observe: @escaping @Sendable (Int, Update) -> Void
  ) -> Outcome {
    do throws(MediaError) {
      let report = try clips[index].get().run { update in
        if case .progress(let progress) = update { observe(index, .progress(progress)) }
      }
      return .done(report)
    } catch {
      // Stopped before its first frame: as if it had not been begun.
      return error.code == .cancelled && isStopped ? .notBegun : .failed(error)
    }
  }

  // MARK: - How many at a time

  /// A job for every two cores, since a session reads and decodes beside its turning and encoding; two
  /// at least, and no more than memory bears without being asked: a 1080p session holds some 0.3 GB.
  public static func standardJobs(cores: Int = ProcessInfo.processInfo.activeProcessorCount) -> Int
  {
    max(2, min(8, cores / 2))
  }

  /// The threads of each job's codecs, so that the jobs share the cores; 0, the codecs' own choice, for
  /// a job that has them all.
  public static func threads(
    jobs: Int, cores: Int = ProcessInfo.processInfo.activeProcessorCount
  ) -> Int {
    jobs > 1 ? max(1, cores / jobs) : 0
  }
}
