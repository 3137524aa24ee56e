/// A parsed and validated RTP packet (RFC 3550, 5.1).
package struct RTPPacket: Sendable, Hashable {
  /// The payload type, as defined by the session description.
  package let payloadType: UInt8
  /// The marker bit. In the video payload formats, it marks the last packet of a frame.
  package let hasMarker: Bool
  /// The sequence number; wraps.
  package let sequence: UInt16
  /// The sampling time, in ticks of the codec's clock; wraps.
  package let timestamp: UInt32
  /// The synchronization source.
  package let ssrc: UInt32
  /// The sources that a mixer combined.
  package let contributors: [UInt32]
  /// The header extension elements (RFC 8285).
  package let extensions: HeaderExtensions
  /// The payload without padding; may be empty.
  package let payload: ArraySlice<UInt8>

  /// Parses a packet. Returns `nil` if `bytes` are not RTP version 2, or its lengths are inconsistent.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 12, bytes[0] >> 6 == 2 else { return nil }
    let contributorCount = Int(bytes[0] & 15)
    var start = 12 + 4 * contributorCount
    guard start <= bytes.count else { return nil }
    hasMarker = bytes[1] & 0x80 != 0
    payloadType = bytes[1] & 0x7F
    sequence = UInt16(truncatingIfNeeded: bytes.bigEndian(at: 2, count: 2))
    timestamp = UInt32(truncatingIfNeeded: bytes.bigEndian(at: 4, count: 4))
    ssrc = UInt32(truncatingIfNeeded: bytes.bigEndian(at: 8, count: 4))
    contributors = (0..<contributorCount).map {
      UInt32(truncatingIfNeeded: bytes.bigEndian(at: 12 + 4 * $0, count: 4))
    }
    if bytes[0] & 0x10 != 0 {
      guard start + 4 <= bytes.count else { return nil }
      let profile = UInt16(truncatingIfNeeded: bytes.bigEndian(at: start, count: 2))
      let end = start + 4 + 4 * bytes.bigEndian(at: start + 2, count: 2)
      guard end <= bytes.count else { return nil }
      extensions = HeaderExtensions(profile: profile, bytes[(start + 4)..<end])
      start = end
    } else {
      extensions = HeaderExtensions()
    }
    var end = bytes.count
    if bytes[0] & 0x20 != 0 {
      // The last byte is the length of the padding, including itself.
      let padding = Int(bytes[end - 1])
      guard padding > 0, padding <= end - start else { return nil }
      end -= padding
    }
    payload = bytes[start..<end]
  }

  /// Returns whether `bytes` are RTCP on a port shared with RTP (RFC 5761, 4).
  package static func isControl(_ bytes: [UInt8]) -> Bool {
    bytes.count >= 2 && bytes[0] >> 6 == 2 && (192...223).contains(bytes[1])
  }
}
