internal import Synchronization
internal import UprightMedia
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPolicy

/// Processes several inputs, some of them in parallel, each in a child process.
///
/// If one fails, or crashes its process, the others continue. The inputs are started in order.
final class Batch: Sendable {
  /// The outcome of one input.
  enum Outcome: Sendable {
    /// The input was processed, up to where the batch was stopped.
    case done(BatchResult)
    /// The input failed and has no output.
    case failed(UprightError)
    /// The batch was stopped before this input was started.
    case notStarted
  }

  /// An update from a running batch.
  enum Update: Sendable {
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

    func record(_ outcome: Outcome, of index: Int) { all.withLock { $0[index] = outcome } }
  }

  private let items: [Result<InputList.Item, UprightError>]
  private let setup: JSONValue
  private let jobs: Int
  /// The index of the next input.
  private let next = Atomic(0)
  private let stopping = Atomic(false)
  private let children = Mutex<[BatchChild]>([])

  /// - Parameters:
  ///   - items: The inputs, or errors for inputs that have already failed.
  ///   - setup: What the child processes need besides the arguments of this one.
  ///   - jobs: The number of child processes, at least 1.
  init(_ items: [Result<InputList.Item, UprightError>], setup: JSONValue, jobs: Int) {
    self.items = items
    self.setup = setup
    self.jobs = max(1, min(jobs, items.count))
  }

  private var isStopped: Bool { stopping.load(ordering: .acquiring) }

  /// Stops reading. Inputs in progress are finished so that their outputs are playable, and no other input is started.
  /// Can be called on any thread.
  func stop() {
    stopping.store(true, ordering: .releasing)
    for child in children.withLock({ $0 }) { child.stop() }
  }

  /// Removes unfinished output. Use it if the process exits without waiting for `run`.
  func abandon() {
    stopping.store(true, ordering: .releasing)
    let running = children.withLock { $0 }
    for child in running { child.end() }
    let deadline = ContinuousClock.now + .seconds(2)
    for child in running { child.wait(until: deadline) }
  }

  /// Processes all inputs and returns their outcomes, in the order of the inputs. Blocks. Must be called
  /// only once.
  ///
  /// - Parameter observe: Called with the index of an input, on any thread, possibly several at the same
  ///   time.
  func run(
    observe: @escaping @Sendable (_ index: Int, Update) -> Void = { _, _ in }
  ) -> [Outcome] {
    let board = Board(items.count)
    let workers = (0..<jobs).map { _ in
      Worker(name: "upright-job") { [self] in
        var child: BatchChild?
        while let index = take() {
          let outcome = outcome(of: index, in: &child, observe)
          board.record(outcome, of: index)
          observe(index, .ended(outcome))
        }
        guard let child else { return }
        child.end()
        child.join()
      }
    }
    for worker in workers { _ = worker.join() }
    return board.outcomes
  }

  private func take() -> Int? {
    guard !isStopped else { return nil }
    let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return index < items.count ? index : nil
  }

  /// - Parameter child: The process to work in; `nil` if a new one is needed.
  private func outcome(
    of index: Int, in child: inout BatchChild?,
    _ observe: @escaping @Sendable (Int, Update) -> Void
  ) -> Outcome {
    do throws(UprightError) {
      let item = try items[index].get()
      if child == nil { child = try start() }
      guard let running = child else { return .notStarted }
      return .done(try running.process(item) { observe(index, .progress($0)) })
    } catch {
      if let ended = child, ended.hasEnded {
        children.withLock { $0.removeAll { $0 === ended } }
        child = nil
      }
      // A session stopped before its first frame counts as not begun.
      return error.code == .cancelled && isStopped ? .notStarted : .failed(error)
    }
  }

  private func start() throws(UprightError) -> BatchChild {
    let child = try BatchChild(setup: setup)
    children.withLock { $0.append(child) }
    // It may have been stopped before the child was known.
    if isStopped { child.stop() }
    return child
  }

  // MARK: - Parallelism

  /// Returns the default number of jobs: one for every two cores, since a session reads and decodes in
  /// parallel to turning and encoding. At least 2, and at most 8 to limit memory: a 1080p session holds some
  /// 0.3 GB.
  static func standardJobs(cores: Int = Processors.count) -> Int {
    max(2, min(8, cores / 2))
  }

  /// Returns the number of codec threads per job, so that the jobs share the cores; 0, which lets the codecs
  /// choose, for a single job.
  static func threads(jobs: Int, cores: Int = Processors.count) -> Int {
    jobs > 1 ? max(1, cores / jobs) : 0
  }
}
