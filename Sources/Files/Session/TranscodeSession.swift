internal import Foundation
internal import Orientation
public import RotationPolicy
internal import UprightContainers
public import UprightEncoding
public import UprightMediaIO
internal import UprightOrienting
public import UprightPipeline

/// One clip from its file to its output: read, turn, encode, write.
///
/// Reading and decoding run on a thread of their own; turning, encoding and writing on the thread
/// that calls `run`, with a bounded queue between them.
public final class TranscodeSession: Sendable {
  let request: TranscodeRequest
  /// A path, a URL, or `-`.
  public var input: String { request.input }
  /// A path, a URL, or `-`.
  public var output: String { request.output }

  /// - Parameters:
  ///   - input: a path, a URL that libavformat knows, or `-`.
  ///   - output: a path, a URL or `-`; its name says the container.
  ///   - inputFormat: libavformat's name of the input's format where it cannot be recognised.
  ///   - outputFormat: the container where the name does not say it.
  /// - Throws: `usage` where options contradict each other or the container, before anything is
  ///   opened.
  public init(
    input: String, output: String, inputFormat: String? = nil, outputFormat: String? = nil,
    options: TranscodeOptions = TranscodeOptions(), policy: PolicyDocument = PolicyDocument(),
    events: EventSource = .none
  ) throws(MediaError) {
    request = try TranscodeRequest(
      input: input, output: output, inputFormat: inputFormat, outputFormat: outputFormat,
      options: options, policy: policy, events: events)
  }

  /// Stops reading; what is in flight is finished and the output closed so that it plays. Any thread.
  public func stop() { request.interrupt.raise() }

  /// Removes what is not finished. For a process that is about to end without waiting for `run`.
  public func abandon() {
    request.interrupt.raise()
    request.writingInterrupt.raise()
    request.unfinished.removeAll()
  }

  /// Whether `stop` was called.
  public var isStopped: Bool { request.isStopped }

  /// Does the work and returns what was done. Blocks; call it on a thread that may.
  ///
  /// - Parameter observe: told about progress, entries and formats as the run goes, on the calling
  ///   thread.
  /// - Throws: as spec 4's exit codes are split; no half output is left under the final name.
  public func run(
    observe: @escaping (SessionUpdate) -> Void = { _ in }
  ) throws(MediaError) -> TranscodeReport {
    var plan = try SessionPlan(request)
    let decided = try CopyPlan(plan)
    plan.warnings += decided.warnings
    switch decided.way {
    case .copy(let copy): return try CopyRun(plan, copy, observe: observe).run()
    case .parts(let parts): return try PartsRun(plan, parts, observe: observe).run()
    case .encode: return try SessionRun(plan, observe: observe).run()
    }
  }

  /// What a run would do, without an output.
  public func plan() throws(MediaError) -> TranscodePlan {
    let plan = try SessionPlan(request, isDryRun: true)
    return TranscodePlan(plan, try CopyPlan(plan))
  }
}
