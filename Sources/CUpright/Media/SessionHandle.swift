// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import UprightFrames
internal import UprightLive
internal import UprightMedia

/// `upright_session`.
private final class SessionHandle: HandleObject {
  static let name = "upright_session"

  private let session: PacketSession
  /// The input of RTP packets; `nil` if the session takes whole frames.
  private let feed: RTPFeed?
  private let timeBase: upright_rational
  private let isFinished = Atomic(false)
  private let readiness = Mutex<EventDescriptor?>(nil)
  /// What the last element points to. Used by one receiver at a time.
  private var memory = OutputMemory()

  init(
    _ video: upright_stream, _ audio: upright_stream?, _ policy: PolicyDocument,
    _ reader: inout OptionReader
  ) throws(UprightError) {
    let options = try AdapterOptions(policy, &reader)
    let encoding = try EncodeOptions(&reader)
    try reader.finish()
    feed = nil
    timeBase = unsafe video.time_base
    session = unsafe try PacketSession(
      video.video(), audio: audio?.audio(), timeBase: timeBase.checked(),
      encoding: encoding, options)
  }

  init(
    sdp: String, _ policy: PolicyDocument, _ reader: inout OptionReader
  ) throws(UprightError) {
    let options = try AdapterOptions(policy, &reader)
    let encoding = try EncodeOptions(&reader)
    try reader.finish()
    let feed = RTPFeed(description: sdp)
    self.feed = feed
    timeBase = upright_rational(numerator: 1, denominator: 90_000)
    session = try PacketSession(feed, encoding: encoding, options)
  }

  func close() { session.close() }

  func post(_ lines: String) throws(UprightError) {
    try session.inbox.post(StreamEvent.parse(jsonLines: lines))
  }

  func send(_ packet: upright_packet, timeout: Double) throws(UprightError) -> upright_status {
    try checkInput(isRTP: false)
    let isSent = unsafe try session.send(packet.encoded(), by: deadline(timeout))
    return isSent ? Status.ok : Status.again
  }

  func send(rtp packet: [UInt8], timeout: Double) throws(UprightError) -> upright_status {
    try checkInput(isRTP: true)
    let isSent = try session.send(rtp: packet, by: deadline(timeout))
    return isSent ? Status.ok : Status.again
  }

  private func checkInput(isRTP: Bool) throws(UprightError) {
    guard isRTP == (feed != nil) else {
      throw UprightError(
        .misuse, "the session's input is \(isRTP ? "whole frames" : "RTP packets")",
        remedy: "use upright_session_\(isRTP ? "send" : "send_rtp")")
    }
    guard !isFinished.load(ordering: .acquiring) else {
      throw UprightError(
        .misuse, "the input has ended", remedy: "don't send after upright_session_finish")
    }
  }

  func receive(
    timeout: Double, into output: inout upright_output
  ) throws(UprightError) -> upright_status {
    switch try session.receive(by: deadline(timeout)) {
    case .late: return Status.again
    case .end: return Status.end
    case .element(let element):
      unsafe memory.store(element, timeBase, into: &output)
      return Status.ok
    }
  }

  /// The descriptor that becomes readable, which is made with the first call.
  func descriptor() throws(UprightError) -> Int32 {
    try readiness.withLock { (present) throws(UprightError) in
      if let present { return present.number }
      let made = try EventDescriptor()
      session.onReady { made.signal() }
      present = made
      return made.number
    }
  }

  var counters: PacketCounters { session.counters }

  func requestKeyframe() { session.requestKeyframe() }

  func finish() {
    isFinished.store(true, ordering: .releasing)
    session.finish()
  }

  func cancel() { session.cancel() }
}

/// When a timeout in seconds ends; `nil` for a negative one, which doesn't.
func deadline(_ timeout: Double) throws(UprightError) -> ContinuousClock.Instant? {
  guard !timeout.isNaN else {
    throw UprightError(
      .usage, "the timeout is not a number", at: "timeout",
      remedy: "give seconds, or a negative number")
  }
  return timeout < 0 ? nil : .after(seconds: timeout)
}

@c @implementation
public func upright_session_new(
  _ video: UnsafePointer<upright_stream>?, _ audio: UnsafePointer<upright_stream>?,
  _ policy: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?,
  _ session: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(session, "session")
    let video = unsafe try prepared(video, "video")
    let second = unsafe audio == nil ? nil : try prepared(audio, "audio")
    var reader = unsafe try CUprightPolicy.options(options)
    let document = unsafe try CUprightPolicy.policy(policy)
    let made = unsafe try SessionHandle(video, second, document, &reader)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_session_new_rtp(
  _ sdp: UnsafePointer<CChar>?, _ policy: UnsafePointer<CChar>?, _ options: UnsafePointer<CChar>?,
  _ session: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(session, "session")
    let description = unsafe try required(sdp, "sdp")
    var reader = unsafe try CUprightPolicy.options(options)
    let document = unsafe try CUprightPolicy.policy(policy)
    let made = try SessionHandle(sdp: description, document, &reader)
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_session_free(_ session: OpaquePointer?) -> upright_status {
  unsafe free(session, SessionHandle.self)
}

/// Runs a call that uses a session.
private func use(
  _ session: OpaquePointer?, _ part: HandlePart, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (SessionHandle) throws(UprightError) -> upright_status
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(session, as: SessionHandle.self, part, body)
  }
}

@c @implementation
public func upright_session_events(
  _ session: OpaquePointer?, _ lines: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { (handle) throws(UprightError) in
    try handle.post(unsafe required(lines, "lines"))
    return Status.ok
  }
}

@c @implementation
public func upright_session_send(
  _ session: OpaquePointer?, _ packet: UnsafePointer<upright_packet>?, _ timeout: Double,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .main, error) { (handle) throws(UprightError) in
    guard let packet = unsafe packet else { throw .missing("packet") }
    guard unsafe packet.pointee.size >= MemoryLayout<upright_packet>.size else {
      throw .unprepared("packet")
    }
    return unsafe try handle.send(packet.pointee, timeout: timeout)
  }
}

@c @implementation
public func upright_session_send_rtp(
  _ session: OpaquePointer?, _ bytes: UnsafePointer<UInt8>?, _ length: Int, _ timeout: Double,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .main, error) { (handle) throws(UprightError) in
    let packet = unsafe try CUpright.bytes(bytes, length, "bytes")
    return try handle.send(rtp: packet, timeout: timeout)
  }
}

@c @implementation
public func upright_session_receive(
  _ session: OpaquePointer?, _ timeout: Double, _ output: UnsafeMutablePointer<upright_output>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .output, error) { (handle) throws(UprightError) in
    guard let output = unsafe output else { throw .missing("output") }
    guard unsafe output.pointee.size >= MemoryLayout<upright_output>.size else {
      throw .unprepared("output")
    }
    return unsafe try handle.receive(timeout: timeout, into: &output.pointee)
  }
}

@c @implementation
public func upright_session_run(
  _ session: OpaquePointer?, _ callback: upright_output_callback?,
  _ context: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .output, error) { (handle) throws(UprightError) in
    guard let callback = unsafe callback else { throw .missing("callback") }
    var output = unsafe upright_output()
    unsafe output.size = MemoryLayout<upright_output>.size
    while unsafe try handle.receive(timeout: -1, into: &output) == Status.ok {
      let answer = unsafe HandleTable.shared.callBack(of: session) {
        unsafe callback(context, &output)
      }
      guard answer == 0 else {
        handle.cancel()
        throw UprightError(.cancelled, "the callback returned \(answer)")
      }
    }
    return Status.ok
  }
}

@c @implementation
public func upright_session_event_fd(
  _ session: OpaquePointer?, _ descriptor: UnsafeMutablePointer<Int32>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { (handle) throws(UprightError) in
    guard let descriptor = unsafe descriptor else { throw .missing("descriptor") }
    unsafe descriptor.pointee = try handle.descriptor()
    return Status.ok
  }
}

@c @implementation
public func upright_session_counters(
  _ session: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    unsafe result.pointee = owned(handle.counters.json.text)
    return Status.ok
  }
}

@c @implementation
public func upright_session_request_keyframe(
  _ session: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { handle in
    handle.requestKeyframe()
    return Status.ok
  }
}

@c @implementation
public func upright_session_finish(
  _ session: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { handle in
    handle.finish()
    return Status.ok
  }
}

@c @implementation
public func upright_session_cancel(
  _ session: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(session, .none, error) { handle in
    handle.cancel()
    return Status.ok
  }
}
