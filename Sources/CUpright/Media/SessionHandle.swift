// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import Synchronization
internal import UprightFrames
internal import UprightLive

/// `upright_session`.
private final class SessionHandle: HandleObject {
  static let name = "upright_session"

  private let session: PacketSession
  /// The input of RTP packets; `nil` if the session takes whole frames.
  private let feed: RTPFeed?
  private let timeBase: upright_rational
  private let isFinished = Atomic(false)
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

  func requestKeyframe() { session.requestKeyframe() }

  func finish() {
    isFinished.store(true, ordering: .releasing)
    session.finish()
  }

  func cancel() { session.cancel() }
}

/// When a timeout in seconds ends; `nil` for a negative one, which doesn't.
private func deadline(_ timeout: Double) throws(UprightError) -> Date? {
  guard !timeout.isNaN else {
    throw UprightError(
      .usage, "the timeout is not a number", at: "timeout",
      remedy: "give seconds, or a negative number")
  }
  // Three years. Foundation's lock can't wait until any date.
  return timeout < 0 ? nil : Date(timeIntervalSinceNow: min(timeout, 1e8))
}

/// The memory that an element of the output points to.
@safe private final class OutputMemory {
  private var bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
  private var capacity = 1
  private var json: UnsafeMutablePointer<CChar>?
  private var codec: UnsafeMutablePointer<CChar>?

  deinit {
    unsafe bytes.deallocate()
    unsafe free(json)
    unsafe free(codec)
  }

  /// Copies an element, and lets the caller's struct, whose size is kept, point to the copies.
  func store(
    _ element: PacketOutput, _ timeBase: upright_rational, into output: inout upright_output
  ) {
    unsafe free(json)
    unsafe json = nil
    let size = unsafe output.size
    unsafe output = upright_output()
    unsafe output.size = size
    switch element {
    case .format(let change, let description):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_FORMAT)
      unsafe json = owned(change.json.compact)
      unsafe free(codec)
      unsafe codec = owned(description.codec.rawValue)
      unsafe output.stream.size = MemoryLayout<upright_stream>.size
      unsafe output.stream.codec = UnsafePointer(codec)
      unsafe output.stream.extradata = copy(description.extradata)
      unsafe output.stream.extradata_size = description.extradata.count
      unsafe output.stream.width = Int32(clamping: description.size?.width ?? 0)
      unsafe output.stream.height = Int32(clamping: description.size?.height ?? 0)
      unsafe output.stream.time_base = timeBase
    case .packet(let packet):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_PACKET)
      unsafe output.packet = upright_packet(packet, copy(packet.bytes))
    case .decision(let decision):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_DECISION)
      unsafe json = owned(decision.json.compact)
    case .refused(let error):
      unsafe output.kind = Int32(UPRIGHT_OUTPUT_REFUSED)
      unsafe json = owned(JSONValue.string(error.description).compact)
    }
    unsafe output.json = UnsafePointer(json)
  }

  private func copy(_ source: [UInt8]) -> UnsafePointer<UInt8> {
    if source.count > capacity {
      unsafe bytes.deallocate()
      capacity = source.count
      unsafe bytes = .allocate(capacity: capacity)
    }
    unsafe source.withUnsafeBufferPointer {
      if let start = $0.baseAddress { unsafe bytes.update(from: start, count: $0.count) }
    }
    return unsafe UnsafePointer(bytes)
  }
}

extension upright_rational {
  /// A time base.
  ///
  /// - Throws: `usage` if it isn't positive.
  fileprivate func checked() throws(UprightError) -> Rational {
    guard numerator > 0, denominator > 0 else {
      throw UprightError(
        .usage, "the time base is not positive", at: "time_base", remedy: "give seconds per tick")
    }
    return Rational(self)
  }
}

extension upright_stream {
  fileprivate func video() throws(UprightError) -> VideoDescription {
    guard unsafe (0...65535).contains(width), unsafe (0...65535).contains(height) else {
      throw UprightError(
        .usage, unsafe "a size of \(width)x\(height)", at: "width and height",
        remedy: "give 1 to 65535 pixels, or 0")
    }
    let size = unsafe width > 0 && height > 0 ? PixelSize(Int(width), Int(height)) : nil
    return try VideoDescription(unsafe named("video"), extradata: unsafe extra(), size: size)
  }

  fileprivate func audio() throws(UprightError) -> AudioDescription {
    unsafe try AudioDescription(
      unsafe named("audio"), sampleRate: Int(sample_rate), channels: Int(channels),
      extradata: unsafe extra())
  }

  private func named<Codec: RawRepresentable<String> & CaseIterable>(
    _ track: String
  ) throws(UprightError) -> Codec {
    let name = unsafe try required(codec, "codec")
    guard let codec = Codec(rawValue: name) else {
      throw UprightError(
        .usage, "there is no such codec", at: track,
        remedy: "use one of " + Codec.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return codec
  }

  private func extra() throws(UprightError) -> [UInt8] {
    unsafe try bytes(extradata, extradata_size, "extradata")
  }
}

/// Copies bytes of the caller's.
///
/// - Throws: `misuse` for NULL with a length, `usage` for more than a codec's library takes.
private func bytes(
  _ start: UnsafePointer<UInt8>?, _ count: Int, _ argument: String
) throws(UprightError) -> [UInt8] {
  guard count != 0 else { return [] }
  guard let start = unsafe start else { throw .missing(argument) }
  guard count > 0, count <= 1 << 30 else {
    throw UprightError(.usage, "\(UInt(bitPattern: count)) bytes are too many", at: argument)
  }
  return unsafe Array(UnsafeBufferPointer(start: start, count: count))
}

extension upright_packet {
  fileprivate init(_ packet: EncodedPacket, _ copy: UnsafePointer<UInt8>) {
    unsafe self.init()
    unsafe size = MemoryLayout<upright_packet>.size
    unsafe bytes = copy
    unsafe length = packet.bytes.count
    unsafe pts = packet.pts
    unsafe dts = packet.dts ?? .min
    unsafe duration = packet.duration
    unsafe time_base.numerator = Int32(clamping: packet.timeBase.numerator)
    unsafe time_base.denominator = Int32(clamping: packet.timeBase.denominator)
    unsafe track = Int32(packet.track == .audio ? UPRIGHT_AUDIO : UPRIGHT_VIDEO)
    unsafe is_key = packet.isKey ? 1 : 0
    unsafe has_cvo = packet.cvo == nil ? 0 : 1
    unsafe cvo = Int32(packet.cvo?.byte(.sixBits) ?? 0)
  }

  fileprivate func encoded() throws(UprightError) -> EncodedPacket {
    guard unsafe (0...1).contains(track) else {
      throw UprightError(
        .usage, unsafe "\(track) is not a track", at: "track",
        remedy: "use UPRIGHT_VIDEO or UPRIGHT_AUDIO")
    }
    guard unsafe length > 0 else {
      throw UprightError(.usage, "the packet is empty", at: "length", remedy: "leave it out")
    }
    guard unsafe pts != .min, unsafe duration >= 0 else {
      throw UprightError(
        .usage, "the packet has no time", at: "pts and duration",
        remedy: "give ticks of the time base")
    }
    guard unsafe (0...255).contains(cvo) else {
      throw UprightError(.usage, unsafe "\(cvo) is not a byte", at: "cvo", remedy: "give 0 to 255")
    }
    return unsafe EncodedPacket(
      unsafe try CUpright.bytes(bytes, length, "bytes"), pts: pts, dts: dts == .min ? nil : dts,
      duration: duration, timeBase: try time_base.checked(), isKey: is_key != 0,
      cvo: has_cvo != 0 ? CVO(byte: UInt8(truncatingIfNeeded: cvo)) : nil,
      track: track == UPRIGHT_AUDIO ? .audio : .video)
  }
}

/// Returns the caller's struct.
///
/// - Throws: `misuse` for NULL, or without a size.
private func prepared(
  _ stream: UnsafePointer<upright_stream>?, _ name: String
) throws(UprightError) -> upright_stream {
  guard let stream = unsafe stream else { throw .missing(name) }
  guard unsafe stream.pointee.size >= MemoryLayout<upright_stream>.size else {
    throw .unprepared(name)
  }
  return unsafe stream.pointee
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
