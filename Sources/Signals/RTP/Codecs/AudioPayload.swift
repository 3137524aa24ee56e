/// Opus packets (RFC 6716), which RTP carries unchanged (RFC 7587).
package enum OpusPacket {
  /// Returns the number of 48 kHz samples in a packet, from its table of contents (RFC 6716, 3.1 and 3.2).
  /// Returns `nil` if the packet is invalid.
  package static func duration(_ packet: some Collection<UInt8>) -> Int? {
    guard let head = packet.first else { return nil }
    let configuration = Int(head >> 3)
    let frame =
      switch configuration {
      case 0..<12: [480, 960, 1920, 2880][configuration & 3]
      case 12..<16: [480, 960][configuration & 1]
      default: [120, 240, 480, 960][configuration & 3]
      }
    let count: Int
    switch head & 3 {
    case 0: count = 1
    case 1, 2: count = 2
    default:
      guard let second = packet.dropFirst().first else { return nil }
      count = Int(second & 63)
    }
    // 120 ms at most.
    return count > 0 && frame * count <= 5760 ? frame * count : nil
  }

  /// The identification header (RFC 7845, 5.1), which containers need and RTP does not carry: two channels,
  /// as always in RTP, no pre-skip and no gain.
  package static let identification: [UInt8] =
    Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0]
}

/// RED (RFC 2198): the primary block, preceded by copies of earlier blocks.
enum RedundantPayload {
  /// Returns the primary block, or `nil` if the headers are inconsistent.
  static func primary(_ payload: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var rest = payload
    var copies = 0
    while let head = rest.first {
      guard head & 0x80 != 0 else {
        rest.removeFirst()
        return copies <= rest.count ? rest.dropFirst(copies) : nil
      }
      guard rest.count >= 4 else { return nil }
      copies += rest.bigEndian(at: rest.startIndex + 2, count: 2) & 0x3FF
      rest.removeFirst(4)
    }
    return nil
  }
}
