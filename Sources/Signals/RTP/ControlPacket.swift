/// The RTCP packets that a receiver uses (RFC 3550, 6): sender reports and BYE.
package enum ControlPacket: Sendable, Hashable {
  /// A sender report: `timestamp`, of the stream `ssrc`, and `time` are the same moment. `time` counts
  /// 1/2^32 s since 1900 and wraps.
  case senderReport(ssrc: UInt32, time: UInt64, timestamp: UInt32)
  /// The streams end.
  case goodbye(ssrcs: [UInt32])

  /// Parses a compound packet. Returns the packets before the first invalid one, without those of other types.
  package static func parse(_ bytes: [UInt8]) -> [ControlPacket] {
    var packets: [ControlPacket] = []
    var start = 0
    while start + 4 <= bytes.count, bytes[start] >> 6 == 2 {
      let end = start + 4 + 4 * bytes.bigEndian(at: start + 2, count: 2)
      guard end <= bytes.count else { break }
      let count = Int(bytes[start] & 31)
      switch bytes[start + 1] {
      case 200 where start + 28 <= end:
        packets.append(
          .senderReport(
            ssrc: word(bytes, start + 4),
            time: UInt64(word(bytes, start + 8)) << 32 | UInt64(word(bytes, start + 12)),
            timestamp: word(bytes, start + 16)))
      case 203 where start + 4 + 4 * count <= end:
        packets.append(.goodbye(ssrcs: (0..<count).map { word(bytes, start + 4 + 4 * $0) }))
      default: break
      }
      start = end
    }
    return packets
  }

  private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: bytes.bigEndian(at: index, count: 4))
  }

  /// Returns a picture loss indication (RFC 4585, 6.3.1), which requests a keyframe of the stream `ssrc`. An
  /// empty receiver report precedes it, because a compound packet starts with a report.
  package static func pictureLossIndication(of ssrc: UInt32, from receiver: UInt32) -> [UInt8] {
    func bytes(_ word: UInt32) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }
    return [0x80, 201, 0, 1] + bytes(receiver) + [0x81, 206, 0, 2] + bytes(receiver) + bytes(ssrc)
  }
}
