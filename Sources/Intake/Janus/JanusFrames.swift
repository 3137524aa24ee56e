internal import DequeModule
internal import UprightMediaIO
internal import UprightRTP

/// The frames of one recording, from its bytes by way of RTP, in bounded memory.
final class JanusFrames {
  let header: JanusHeader
  let path: String
  let codec: RTPCodec
  /// Seconds from the first packet to the last; nil where unknown.
  let duration: Double?
  /// Whether the file can be opened again.
  let isSeekable: Bool
  private let file: JanusFile
  private var recording: JanusRecording
  private var rtp: RTPStream
  private var waiting: Deque<AccessUnit> = []
  private var isAtEnd = false

  /// - Throws: `noInput`, `badData` where there is no packet in it, `unavailable` for another codec.
  init(_ url: String, interrupt: Interrupt) throws(UprightError) {
    path = url
    file = try JanusFile(url, interrupt: interrupt)
    isSeekable = file.isSeekable
    recording = JanusRecording()
    header = try Self.header(file, &recording)
    guard let first = try Self.firstPacket(file, &recording) else {
      throw UprightError(
        .badData, "there is no packet in the recording", at: url, remedy: "it is cut off perhaps")
    }
    // G.711's two laws have payload types of their own (RFC 3551, table 4).
    codec = header.codec ?? (first.bytes[1] & 0x7F == 8 ? .pcma : .pcmu)
    rtp = RTPStream(codec: codec, orientation: header.orientation, redundancy: header.redundancy)
    duration = Self.duration(from: first, inTail: file.tail, rate: codec.clockRate)
    waiting.append(contentsOf: rtp.take(first.bytes, arrival: first.arrival))
  }

  /// The next frame in decoding order; nil at the end.
  ///
  /// - Throws: `inputOutput`, `cancelled`.
  func next() throws(UprightError) -> AccessUnit? {
    try fill(1)
    return waiting.popFirst()
  }

  /// The frame that `next` will return; nil at the end.
  func peek() throws(UprightError) -> AccessUnit? {
    try fill(1)
    return waiting.first
  }

  /// Up to `count` frames that come next, and stay.
  func lookAhead(_ count: Int) throws(UprightError) -> [AccessUnit] {
    try fill(count)
    return Array(waiting.prefix(count))
  }

  private func fill(_ count: Int) throws(UprightError) {
    while waiting.count < count, !isAtEnd {
      if case .packet(let packet) = recording.next() {
        waiting.append(contentsOf: rtp.take(packet.bytes, arrival: packet.arrival))
        continue
      }
      let bytes = try file.read()
      if bytes.isEmpty {
        isAtEnd = true
        waiting.append(contentsOf: rtp.finish())
      } else {
        recording.append(bytes)
      }
    }
  }

  /// What was lost so far, in words.
  var losses: [String] {
    var losses: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { losses.append(count == 1 ? "1 \(one)" : "\(count) \(many)") }
    }
    if isAtEnd, recording.unread > 0 { losses.append("the recording ends within a packet") }
    add(recording.skipped, "byte belongs to no packet", "bytes belong to no packet")
    let counts = rtp.statistics
    let kind = header.isVideo ? "video" : "sound"
    add(counts.lost, "\(kind) RTP packet was lost", "\(kind) RTP packets were lost")
    add(
      counts.malformed, "\(kind) packet is no RTP of \(codec.rawValue)",
      "\(kind) packets are no RTP of \(codec.rawValue)")
    add(
      counts.strays, "\(kind) packet is of another stream", "\(kind) packets are of another stream")
    add(counts.unusableFrames, "frame was lost with its packets", "frames were lost with theirs")
    add(counts.incompleteFrames, "frame is incomplete", "frames are incomplete")
    add(
      counts.dependentFrames, "whole frame may refer to what was lost",
      "whole frames may refer to what was lost")
    return losses
  }

  private static func header(
    _ file: JanusFile, _ recording: inout JanusRecording
  ) throws(UprightError) -> JanusHeader {
    while true {
      switch recording.next() {
      case .header(let header): return try JanusHeader(header, at: file.path)
      case nil:
        let bytes = try file.read()
        if bytes.isEmpty {
          throw UprightError(
            .badData, "the recording is cut off within its header", at: file.path,
            remedy: "take it from where it was recorded anew")
        }
        recording.append(bytes)
      case .packet, .notARecording:
        throw UprightError(
          .badData, "not a Janus recording", at: file.path,
          remedy: "expected a file that begins with MJR00002")
      }
    }
  }

  /// The first packet that may be RTP.
  private static func firstPacket(
    _ file: JanusFile, _ recording: inout JanusRecording
  ) throws(UprightError) -> JanusRecording.Packet? {
    while true {
      if case .packet(let packet) = recording.next() {
        if packet.bytes.count >= 12 { return packet }
        continue
      }
      let bytes = try file.read()
      if bytes.isEmpty { return nil }
      recording.append(bytes)
    }
  }

  /// By the times of arrival, or where there are none by RTP's own.
  private static func duration(
    from first: JanusRecording.Packet, inTail tail: [UInt8], rate: Int
  ) -> Double? {
    guard let last = JanusRecording.lastPacket(inTail: tail, hasTimes: first.arrival != nil) else {
      return nil
    }
    if let begin = first.arrival, let end = last.arrival, end > begin {
      return Double(end - begin) / 1000
    }
    guard let begin = RTPPacket(first.bytes), let end = RTPPacket(last.bytes) else { return nil }
    let ticks = Int32(bitPattern: end.timestamp &- begin.timestamp)
    return ticks > 0 ? Double(ticks) / Double(rate) : nil
  }
}
