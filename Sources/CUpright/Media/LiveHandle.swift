// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import Synchronization
internal import UprightFrames
internal import UprightLive
internal import UprightOrientation
internal import UprightMedia
internal import UprightPolicy

/// `upright_live`.
private final class LiveHandle: HandleObject {
  static let name = "upright_live"

  let session: LiveSession
  /// What the host hasn't taken yet.
  private let updates = TaskQueue<JSONValue>(capacity: 1024)

  init(_ input: String, _ outputs: String, _ options: inout OptionReader) throws(UprightError) {
    let policy = try PolicyDocument(option: options.json("policy"))
    let seconds = try options.number("input-timeout", in: 0...86400)
    let transcode = try TranscodeOptions(&options)
    try options.finish()
    // A session description (RFC 8866) begins with its version.
    let source = input.hasPrefix("v=") ? LiveInput.rtp(description: input) : LiveInput(named: input)
    var configuration = LiveConfiguration(
      input: source,
      outputs: try outputs.split(separator: "\n").map { (name) throws(UprightError) in
        try LiveOutput(named: String(name))
      }, policy: policy, options: transcode)
    if let seconds { configuration.inputTimeout = seconds }
    configuration.segmentSeconds = transcode.segmentDuration
    session = try LiveSession(configuration)
    session.start { [updates] update in
      _ = updates.offer(update.document)
      if case .state(let state, _) = update, [.ended, .failed].contains(state) { updates.close() }
    }
  }

  func close() {
    session.stop()
    _ = session.join(timeout: 15)
    updates.close()
  }

  func post(_ lines: String) throws(UprightError) {
    let events = try StreamEvent.parse(jsonLines: lines)
    let answer = Mutex<UprightError?>(nil)
    // An event that can't be queued is refused at once; what becomes of the others are updates.
    session.post(events) { result in
      if case .failure(let error) = result { answer.withLock { $0 = error } }
    }
    if let error = answer.withLock({ $0 }) { throw error }
  }

  /// Returns the next update; `nil` if there is none by `deadline`, or any more.
  func next(by deadline: ContinuousClock.Instant?) throws(UprightError) -> (JSONValue?, Int32) {
    let (update, isLate) = updates.take(by: deadline)
    if let update { return (update, Status.ok) }
    if isLate { return (nil, Status.again) }
    _ = session.join(timeout: 15)
    if let error = session.error { throw error }
    return (nil, Status.end)
  }
}

extension PolicyDocument {
  /// The policy of an option: a name, a document as text, or an object; `phone` without one.
  init(option: JSONValue?) throws(UprightError) {
    switch option {
    case nil: try self.init(nameOrJSON: "phone")
    case .string(let text): try self.init(nameOrJSON: text)
    case .some(let document): try self.init(nameOrJSON: document.compact)
    }
  }
}

extension LiveUpdate {
  /// The update as an object whose one key is its kind.
  fileprivate var document: JSONValue {
    switch self {
    case .state(let state, let reason):
      [
        "state": .string(state.rawValue), "reason": reason.map(JSONValue.string) ?? .null,
      ]
    case .decision(let decision): ["decision": decision.json]
    case .format(let change): ["format": change.json]
    case .change(_, let applied): ["change": applied.at.map(JSONValue.number) ?? .null]
    case .output(let status): ["output": status.document]
    case .recording(let recording):
      ["recording": .string(recording.path), "state": .string(recording.state.rawValue)]
    case .outputRemoved(let id): ["outputRemoved": .string(id)]
    }
  }
}

extension LiveOutputStatus {
  fileprivate var document: JSONValue {
    [
      "id": .string(id), "state": .string(state.rawValue),
      "reason": reason.map(JSONValue.string) ?? .null, "frames": .integer(frames),
      "bytes": .integer(bytes), "dropped": .integer(dropped),
    ]
  }
}

extension LiveSnapshot {
  fileprivate var document: JSONValue {
    [
      "state": .string(state.rawValue), "reason": reason.map(JSONValue.string) ?? .null,
      "seconds": .number(seconds),
      "appOrientation": appOrientation.map(JSONValue.string) ?? .null,
      "encodeResolution": encodeResolution.map(JSONValue.string) ?? .null,
      "counters": [
        "framesIn": .integer(counters.framesIn), "framesOut": .integer(counters.framesOut),
        "bytesIn": .integer(counters.bytesIn), "bytesOut": .integer(counters.bytesOut),
        "formatChanges": .integer(counters.formatChanges),
        "inputLosses": .integer(counters.inputLosses),
        "dropped": .object(
          counters.dropped.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) }),
      ],
      "outputs": .array(outputs.map(\.document)),
    ]
  }
}

@c @implementation
public func upright_live_new(
  _ input: UnsafePointer<CChar>?, _ outputs: UnsafePointer<CChar>?,
  _ options: UnsafePointer<CChar>?, _ live: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(live, "live")
    var options = unsafe try CUprightPolicy.options(options)
    let made = unsafe try LiveHandle(
      required(input, "input"), required(outputs, "outputs"), &options)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_live_free(_ live: OpaquePointer?) -> upright_status {
  unsafe free(live, LiveHandle.self)
}

/// Runs a call that uses a live session.
private func use(
  _ live: OpaquePointer?, _ part: HandlePart, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (LiveHandle) throws(UprightError) -> upright_status
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(live, as: LiveHandle.self, part, body)
  }
}

@c @implementation
public func upright_live_events(
  _ live: OpaquePointer?, _ lines: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(live, .none, error) { (handle) throws(UprightError) in
    try handle.post(unsafe required(lines, "lines"))
    return Status.ok
  }
}

@c @implementation
public func upright_live_next(
  _ live: OpaquePointer?, _ timeout: Double,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(live, .output, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    let (update, status) = try handle.next(by: deadline(timeout))
    unsafe result.pointee = update.flatMap { unsafe owned($0.compact) }
    return status
  }
}

@c @implementation
public func upright_live_snapshot(
  _ live: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(live, .none, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    unsafe result.pointee = owned(handle.session.snapshot.document.text)
    return Status.ok
  }
}

@c @implementation
public func upright_live_stop(
  _ live: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(live, .none, error) { handle in
    handle.session.stop()
    return Status.ok
  }
}
