internal import CUprightFFmpeg
internal import Glibc

/// Counts the NAL units of each elementary stream of an MPEG transport stream (ISO/IEC 13818-1, 2.4.3), and follows
/// their codecs.
struct TransportUnitCounter {
  /// What is read of one PID.
  fileprivate struct Track {
    var counter = NALUnitCounter()
    /// The first nine bytes of a PES packet, as far as they are there. `nil` after its header.
    var header: [UInt8]? = []
    /// How many bytes of the header's optional fields are still to come.
    var optional = 0
    /// Whether the PES packet has no elementary stream, such as padding.
    var isIgnored = false
  }

  private static let packetSize = 188
  private static let syncByte: UInt8 = 0x47
  /// The streams without optional fields: map, padding, private, ECM, EMM, DSM-CC, H.222.1 type E, directory.
  fileprivate static let plainStreams: Set<UInt8> = [
    0xBC, 0xBE, 0xBF, 0xF0, 0xF1, 0xF2, 0xF8, 0xFF,
  ]

  private var tracks: [Int: Track] = [:]
  private var tables = TransportTables()
  /// The number of bytes between two packets: 4 in M2TS, 16 with Reed-Solomon codes.
  private var gap = 0
  /// How many bytes between packets have passed.
  private var passed = 0

  /// The streams that go on in another codec, and the position where a map declares that first.
  private(set) var changes: [TransportTables.Change: Int64] = [:]

  /// Returns whether an access unit of `codec` on `pid` exceeds a limit.
  func isExceeded(pid: Int, as codec: AVCodecID) -> Bool {
    tracks[pid]?.counter.isExceeded(as: codec) == true
  }

  /// Forgets what is incomplete, for bytes that don't follow on from the last ones.
  mutating func restart() {
    passed = 0
    tables.restart()
  }

  /// Reads whole packets. Those with which a stream goes on in another codec lose their payload, and so does the map
  /// that says it: libavformat has one codec for a stream, and its parser would add the rest to the last frame. In
  /// FFmpeg 9 the codec is that of the last map, so that the frames before it were lost.
  ///
  /// - Parameter start: The position of the bytes in the input.
  /// - Returns: The number of bytes before the first incomplete packet.
  mutating func read(_ bytes: UnsafeMutableRawBufferPointer, at start: Int64) -> Int {
    var position = 0
    while position < bytes.count {
      if passed < gap || bytes[position] != Self.syncByte {
        passed += 1
        position += 1
        continue
      }
      let end = position + Self.packetSize
      guard end <= bytes.count else { return position }
      gap = [4, 16].contains(passed) ? passed : 0
      let packet = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
      // The value is reserved, and such a packet ignored (2.4.3.3).
      if isLeftOut(packet, at: start + Int64(position)) { bytes[position + 3] &= 0xCF }
      position = end
      passed = 0
    }
    return position
  }

  private mutating func isLeftOut(_ packet: UnsafeRawBufferPointer, at place: Int64) -> Bool {
    let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
    let (isStart, hasFields) = (packet[1] & 0x40 != 0, packet[3] & 0x20 != 0)
    let start = hasFields ? 5 + Int(packet[4]) : 4
    guard packet[3] & 0x10 != 0, start < packet.count else { return false }
    if tables.changed.contains(pid) { return true }
    let payload = UnsafeRawBufferPointer(rebasing: packet[start...])
    tracks[pid, default: Track()].read(payload, isStart: isStart)
    let found = tables.read(payload, pid: pid, isStart: isStart) { tracks[$0] != nil }
    for change in found { changes[change] = min(changes[change] ?? place, place) }
    return !found.isEmpty
  }
}

extension TransportUnitCounter.Track {
  fileprivate mutating func read(_ payload: UnsafeRawBufferPointer, isStart: Bool) {
    if isStart { (header, optional, isIgnored) = ([], 0, false) }
    var rest = payload[...]
    if var header {
      let part = rest.prefix(9 - header.count)
      header += part
      rest = rest.dropFirst(part.count)
      self.header = header.count < 9 ? header : nil
      if header.count == 9 {
        optional = Int(header[8])
        isIgnored =
          !header.starts(with: [0, 0, 1]) || TransportUnitCounter.plainStreams.contains(header[3])
      }
    }
    let skipped = min(optional, rest.count)
    optional -= skipped
    rest = rest.dropFirst(skipped)
    if !isIgnored, !rest.isEmpty { counter.read(UnsafeRawBufferPointer(rebasing: rest)) }
  }
}
