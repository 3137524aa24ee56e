public import UprightOrientation
public import UprightPolicy
public import UprightMedia
internal import UprightMediaIO

/// Transcodes one input: reads, turns, encodes and writes it.
///
/// Reading and decoding run on a separate thread. Turning, encoding and writing run on the thread that calls
/// `run`. A bounded queue connects the two.
public final class TranscodeSession: Sendable {
  let request: TranscodeRequest
  /// The input: a path, a URL, or `-` for standard input.
  public var input: String { request.input }
  /// The output: a path, a URL, or `-` for standard output.
  public var output: String { request.output }

  /// Creates a session. Opens nothing.
  ///
  /// - Parameters:
  ///   - input: A path, a URL that libavformat supports, or `-` for standard input.
  ///   - output: A path, a URL, or `-` for standard output. Its name determines the container.
  ///   - inputFormat: libavformat's name of the input's format, if it can't be detected.
  ///   - outputFormat: The container, if the output's name doesn't determine it.
  ///   - options: How frames are turned, encoded and written.
  ///   - policy: The rotation policy.
  ///   - events: The orientation events, in seconds from the first frame.
  /// - Throws: `usage` if options contradict each other or the container, before anything is opened;
  ///   `badData` if the policy is invalid.
  public init(
    input: String, output: String, inputFormat: String? = nil, outputFormat: String? = nil,
    options: TranscodeOptions = TranscodeOptions(), policy: PolicyDocument = PolicyDocument(),
    events: EventSource = .none
  ) throws(UprightError) {
    request = try TranscodeRequest(
      input: input, output: output, inputFormat: inputFormat, outputFormat: outputFormat,
      options: options, policy: policy, events: events)
  }

  /// Stops reading. Frames that were already read are finished, and the output is closed so that it is
  /// playable. Can be called on any thread.
  public func stop() { request.interrupt.raise() }

  /// Ends the run at the next frame. `run` throws `cancelled` and leaves no output. Can be called on any
  /// thread.
  public func cancel() {
    request.cancellation.raise()
    request.interrupt.raise()
    request.writingInterrupt.raise()
  }

  /// Removes unfinished output. Use it if the process exits without waiting for `run`.
  package func abandon() {
    request.interrupt.raise()
    request.writingInterrupt.raise()
    request.unfinished.removeAll()
  }

  /// Whether `stop` was called.
  package var isStopped: Bool { request.isStopped }

  /// Transcodes the input and returns a report. Blocks, so call it on a thread that may block.
  ///
  /// - Parameter observe: Called with progress, decisions and formats during the run, on the calling thread.
  /// - Throws: `UprightError`. No partial output is left under the final name.
  public func run(
    observe: @escaping (SessionUpdate) -> Void = { _ in }
  ) throws(UprightError) -> TranscodeReport {
    try LogScope.run(in: request.log ?? .current) { () throws(UprightError) in try work(observe) }
  }

  private func work(
    _ observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) -> TranscodeReport {
    var plan = try SessionPlan(request)
    let copyPlan = try CopyPlan(plan)
    plan.warnings += copyPlan.warnings
    switch copyPlan.method {
    case .copy(let copy):
      if let run = try MetadataRun(plan, copy, observe: observe) { return try run.run() }
      return try CopyRun(plan, copy, observe: observe).run()
    case .parts(let parts): return try PartsRun(plan, parts, observe: observe).run()
    case .encode: return try EncodeRun(plan, observe: observe).run()
    }
  }

  /// Transcodes the input on a thread of its own and returns a report.
  ///
  /// If the task is cancelled, the run ends at the next frame and leaves no output. To keep what was written so
  /// far, call `stop` instead.
  ///
  /// - Parameter updates: Called with progress, decisions and formats during the run, on that thread.
  /// - Throws: `cancelled` if the task is cancelled, and the errors of the blocking `run`.
  public func run(
    updates: @escaping @Sendable (SessionUpdate) -> Void
  ) async throws(UprightError) -> TranscodeReport {
    try await withTaskCancellationHandler {
      await WorkThread.run(name: Self.threadName) { self.outcome(updates) }
    } onCancel: {
      cancel()
    }.get()
  }

  /// Transcodes the input on a thread of its own, and blocks the calling thread, whose stack may be small.
  ///
  /// - Parameter updates: Called with progress, decisions and formats during the run, on that thread.
  /// - Throws: `cancelled` after `cancel`, and the errors of the blocking `run`.
  package func runApart(
    updates: @escaping @Sendable (SessionUpdate) -> Void
  ) throws(UprightError) -> TranscodeReport {
    let work = WorkThread(name: Self.threadName) { self.outcome(updates) }
    guard let outcome = work.join() else { throw UprightError(.fault, "no thread") }
    return try outcome.get()
  }

  private static let threadName = "upright-transcode"

  private func outcome(
    _ updates: @escaping @Sendable (SessionUpdate) -> Void
  ) -> Result<TranscodeReport, UprightError> {
    do throws(UprightError) { return .success(try run(observe: updates)) } catch {
      // Interrupted reading and writing have errors of their own.
      return .failure(request.cancelled ?? error)
    }
  }

  /// Returns what a run would do, without writing an output. Reads the input as far as a run needs to decide;
  /// blocks.
  ///
  /// - Throws: The errors of a run that occur before its first frame.
  public func plan() throws(UprightError) -> TranscodePlan {
    try LogScope.run(in: request.log ?? .current) { () throws(UprightError) in
      let plan = try SessionPlan(request, isDryRun: true)
      return TranscodePlan(plan, try CopyPlan(plan))
    }
  }
}
