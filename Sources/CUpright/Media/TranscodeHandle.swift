// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import UprightMedia
internal import UprightFiles
internal import UprightFrames

/// `upright_transcode`.
private final class TranscodeHandle: HandleObject {
  static let name = "upright_transcode"

  let session: TranscodeSession
  private let isStarted = Atomic(false)

  init(
    input: String, output: String, _ policy: PolicyDocument, events: String?,
    _ reader: inout OptionReader
  ) throws(UprightError) {
    let (inputFormat, format) = (try reader.text("input-format"), try reader.text("format"))
    let options = try TranscodeOptions(&reader)
    try reader.finish()
    session = try TranscodeSession(
      input: input, output: output, inputFormat: inputFormat, outputFormat: format,
      options: options, policy: policy,
      events: events.map { (lines) throws(UprightError) in
        try EventSource(policy) { () throws(PolicyError) in
          try RotationEvent.parse(jsonLines: lines.utf8)
        }
      } ?? .none)
  }

  func close() { session.cancel() }

  /// - Throws: `misuse` if it was run before.
  func start() throws(UprightError) {
    guard !isStarted.exchange(true, ordering: .acquiringAndReleasing) else {
      throw UprightError(
        .misuse, "the transcode was run before", remedy: "make another one for each run")
    }
  }
}

extension EventSource {
  /// A list of events that make sense in a policy.
  ///
  /// - Throws: `badData` for one that doesn't, and for what `read` throws.
  init(
    _ policy: PolicyDocument, _ read: () throws(PolicyError) -> [RotationEvent]
  ) throws(UprightError) {
    do throws(PolicyError) {
      let list = try read()
      _ = try OrientationPlan(policy, events: list)
      self = .list(list)
    } catch {
      throw UprightError(error, code: .badData)
    }
  }

  /// The events of an option: JSON Lines, or a list of objects.
  ///
  /// - Throws: `badData` for an event that makes no sense in the policy, `usage` for any other value.
  init(_ policy: PolicyDocument, option value: JSONValue?) throws(UprightError) {
    switch value {
    case nil: self = .none
    case .string(let lines):
      self = try EventSource(policy) { () throws(PolicyError) in
        try RotationEvent.parse(jsonLines: lines.utf8)
      }
    case .array(let values):
      self = try EventSource(policy) { () throws(PolicyError) in
        try values.map { (value) throws(PolicyError) in try RotationEvent(value) }
      }
    default:
      throw UprightError(
        .usage, "the events are neither lines nor a list", at: "events",
        remedy: "give JSON Lines, or an array of objects")
    }
  }
}

/// The caller's callback for updates.
@safe private final class UpdateCallback: @unchecked Sendable {
  // Unchecked: one thread calls it, and `answer` is read after that thread has ended.
  private let handle: OpaquePointer?
  private let function: upright_update_callback
  private let context: UnsafeMutableRawPointer?
  private(set) var answer: Int32 = 0

  init(
    _ handle: OpaquePointer?, _ function: @escaping upright_update_callback,
    _ context: UnsafeMutableRawPointer?
  ) {
    unsafe self.handle = handle
    unsafe self.function = function
    unsafe self.context = context
  }

  /// Returns whether the session shall go on.
  func call(_ update: SessionUpdate) -> Bool {
    guard answer == 0 else { return false }
    var result = unsafe upright_update()
    unsafe result.size = MemoryLayout<upright_update>.size
    var json: String?
    switch update {
    case .progress(let progress):
      unsafe result.kind = Int32(UPRIGHT_UPDATE_PROGRESS)
      unsafe result.frames = Int64(progress.frames)
      unsafe result.seconds = progress.seconds
      unsafe result.duration = progress.duration ?? -1
      unsafe result.elapsed = progress.elapsed
    case .decision(let decision):
      unsafe result.kind = Int32(UPRIGHT_UPDATE_DECISION)
      json = decision.json.compact
    case .format(let change):
      unsafe result.kind = Int32(UPRIGHT_UPDATE_FORMAT)
      json = change.json.compact
    }
    let copy = unsafe json.flatMap { unsafe owned($0) }
    defer { unsafe upright_string_free(copy) }
    unsafe result.json = UnsafePointer(copy)
    answer = unsafe HandleTable.shared.callBack(of: handle) { unsafe function(context, &result) }
    return answer == 0
  }
}

@c @implementation
public func upright_transcode_new(
  _ input: UnsafePointer<CChar>?, _ output: UnsafePointer<CChar>?,
  _ policy: UnsafePointer<CChar>?, _ events: UnsafePointer<CChar>?,
  _ options: UnsafePointer<CChar>?, _ transcode: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(transcode, "transcode")
    var reader = unsafe try CUprightPolicy.options(options)
    let made = unsafe try TranscodeHandle(
      input: required(input, "input"), output: required(output, "output"),
      CUprightPolicy.policy(policy), events: text(events, "events"), &reader)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_transcode_free(_ transcode: OpaquePointer?) -> upright_status {
  unsafe free(transcode, TranscodeHandle.self)
}

/// Runs a call that uses a transcode.
private func use(
  _ transcode: OpaquePointer?, _ part: HandlePart, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (TranscodeHandle) throws(UprightError) -> Void
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(transcode, as: TranscodeHandle.self, part, body)
    return Status.ok
  }
}

@c @implementation
public func upright_transcode_run(
  _ transcode: OpaquePointer?, _ callback: upright_update_callback?,
  _ context: UnsafeMutableRawPointer?,
  _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(transcode, .main, error) { (handle) throws(UprightError) in
    unsafe report?.pointee = nil
    try handle.start()
    let session = handle.session
    let observer = unsafe callback.map { unsafe UpdateCallback(transcode, $0, context) }
    let finished: TranscodeReport
    do throws(UprightError) {
      finished = try session.runApart { update in
        if observer?.call(update) == false { session.cancel() }
      }
    } catch {
      guard let answer = observer?.answer, answer != 0, error.code == .cancelled else {
        throw error
      }
      throw UprightError(.cancelled, "the callback returned \(answer)")
    }
    unsafe report?.pointee = owned(finished.json.text)
  }
}

@c @implementation
public func upright_transcode_plan(
  _ transcode: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(transcode, .main, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    let session = handle.session
    let plan = try apart { () throws(UprightError) in try session.plan() }
    unsafe result.pointee = owned(plan.json.text)
  }
}

@c @implementation
public func upright_transcode_stop(
  _ transcode: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(transcode, .none, error) { $0.session.stop() }
}

@c @implementation
public func upright_transcode_cancel(
  _ transcode: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(transcode, .none, error) { $0.session.cancel() }
}

@c @implementation
public func upright_probe(
  _ input: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(json, "json")
    let input = unsafe try required(input, "input")
    let probe = try apart { () throws(UprightError) in try Probe(input: input) }
    unsafe result.pointee = owned(probe.json.text)
    return Status.ok
  }
}

/// Runs `body` on a thread of its own and waits for it: the caller's stack may be too small for decoders.
func apart<Value: Sendable>(
  _ body: @escaping @Sendable () throws(UprightError) -> Value
) throws(UprightError) -> Value {
  let work = WorkThread(name: "upright-call") { () -> Result<Value, UprightError> in
    do throws(UprightError) { return .success(try body()) } catch { return .failure(error) }
  }
  guard let outcome = work.join() else { throw UprightError(.fault, "no thread") }
  return try outcome.get()
}
