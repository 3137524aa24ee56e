internal import DequeModule
internal import UprightOrientation
internal import UprightMediaIO
internal import UprightSignals

/// The frames of one recording, depacketized from RTP, in bounded memory.
final class JanusFrames {
  let header: JanusHeader
  let path: String
  let codec: RTPCodec
  /// The time from the first packet to the last; `nil` if unknown.
  let duration: MediaTime?
  /// Whether the file can be reopened.
  let isSeekable: Bool
  private let file: JanusFile
  private var recording: JanusRecording
  private var rtp: RTPStream
  private var waiting: Deque<AccessUnit> = []
  private var isAtEnd = false

  /// - Throws: `noInput`; `badData` if the file contains no packet or can't be read as a recording.
  init(_ url: String, interrupt: Interrupt) throws(UprightError) {
    path = url
    file = try JanusFile(url, interrupt: interrupt)
    isSeekable = file.isSeekable
    recording = JanusRecording()
    header = try Self.header(file, &recording)
    guard let first = try Self.firstPacket(file, &recording) else {
      throw UprightError(
        .badData, "there is no packet in the recording", at: url,
        remedy: "check whether it was truncated")
    }
    // G.711's mu-law and A-law have separate payload types (RFC 3551, table 4).
    codec = header.codec ?? (first.bytes[1] & 0x7F == 8 ? .pcma : .pcmu)
    rtp = RTPStream(codec: codec, orientation: header.orientation, redundancy: header.redundancy)
    duration = Self.duration(from: first, inTail: file.tail, rate: codec.clockRate)
    waiting.append(contentsOf: rtp.receive(first.bytes, arrival: first.arrival))
  }

  /// Returns the next frame in decoding order, or `nil` at the end.
  ///
  /// - Throws: `inputOutput`, `cancelled`.
  func next() throws(UprightError) -> AccessUnit? {
    try fill(1)
    return waiting.popFirst()
  }

  /// Returns the frame that `next` will return, or `nil` at the end.
  func peek() throws(UprightError) -> AccessUnit? {
    try fill(1)
    return waiting.first
  }

  /// Returns up to `count` of the next frames without consuming them.
  func lookAhead(_ count: Int) throws(UprightError) -> [AccessUnit] {
    try fill(count)
    return Array(waiting.prefix(count))
  }

  private func fill(_ count: Int) throws(UprightError) {
    while waiting.count < count, !isAtEnd {
      if case .packet(let packet) = recording.next() {
        waiting.append(contentsOf: rtp.receive(packet.bytes, arrival: packet.arrival))
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

  /// Descriptions of the losses so far, for the user.
  var losses: [String] {
    var losses: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { losses.append(count == 1 ? "1 \(one)" : "\(count) \(many)") }
    }
    if isAtEnd, recording.unread > 0 { losses.append("the recording ends within a packet") }
    add(recording.skipped, "byte is not part of a packet", "bytes are not part of a packet")
    let counts = rtp.statistics
    let kind = header.isVideo ? "video" : "audio"
    add(counts.lost, "\(kind) RTP packet was lost", "\(kind) RTP packets were lost")
    add(
      counts.malformed, "\(kind) packet is not valid RTP for \(codec.rawValue)",
      "\(kind) packets are not valid RTP for \(codec.rawValue)")
    add(
      counts.strays, "\(kind) packet belongs to another stream",
      "\(kind) packets belong to another stream")
    add(
      counts.unusableFrames, "frame was lost with its packets",
      "frames were lost with their packets")
    add(counts.incompleteFrames, "frame is incomplete", "frames are incomplete")
    add(
      counts.dependentFrames, "complete frame may refer to lost data",
      "complete frames may refer to lost data")
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
            remedy: "copy it again from where it was recorded")
        }
        recording.append(bytes)
      case .packet, .notARecording:
        throw UprightError(
          .badData, "not a Janus recording", at: file.path,
          remedy: "give a file that starts with MJR00002")
      }
    }
  }

  /// Returns the first packet that is long enough for RTP.
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

  /// Returns the duration from the arrival times or, if there are none, from the RTP timestamps.
  private static func duration(
    from first: JanusRecording.Packet, inTail tail: [UInt8], rate: Int
  ) -> MediaTime? {
    guard let last = JanusRecording.lastPacket(inTail: tail, hasTimes: first.arrival != nil) else {
      return nil
    }
    if let begin = first.arrival, let end = last.arrival, end > begin {
      return MediaTime(Int64(clamping: end - begin), Rational(1, 1000))
    }
    guard let begin = RTPPacket(first.bytes), let end = RTPPacket(last.bytes) else { return nil }
    let ticks = Int32(bitPattern: end.timestamp &- begin.timestamp)
    return ticks > 0 ? MediaTime(Int64(ticks), Rational(1, rate)) : nil
  }
}
