/// The framing of NAL units in a packet.
package enum NALFraming: Sendable, Hashable {
  /// Start codes (Annex B of both standards).
  case startCodes
  /// A length of this many bytes, 1...4, before each unit (ISO/IEC 14496-15).
  case lengths(Int)

  /// Creates the framing that the container's decoder configuration declares. avcC and hvcC contain
  /// the size of the lengths; an empty configuration, or any other, means start codes.
  package init(configuration: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec) {
    let head = Array(configuration.prefix(23))
    switch codec {
    case .h264 where head.count >= 7 && head[0] == 1:
      self = .lengths(Int(head[4] & 3) + 1)
    // Old writers left hvcC's configurationVersion at 0. No start code begins like that.
    case .hevc where head.count >= 23 && (head[0] != 0 || head[1] != 0 || head[2] > 1):
      self = .lengths(Int(head[21] & 3) + 1)
    default: self = .startCodes
    }
  }

  /// Returns the framing of this packet: the declared one, unless the bytes clearly have the other.
  func actual(in packet: Span<UInt8>) -> NALFraming {
    switch self {
    case .startCodes:
      // A packet of a file whose configuration was lost.
      return !Self.beginsWithStartCode(packet) && Self.fits(packet, lengthSize: 4)
        ? .lengths(4) : .startCodes
    case .lengths(let size):
      // 00 00 01 xx is also a valid length, so these are start codes only if the lengths don't add
      // up.
      return Self.beginsWithStartCode(packet) && !Self.fits(packet, lengthSize: size)
        ? .startCodes : self
    }
  }

  private static func beginsWithStartCode(_ packet: Span<UInt8>) -> Bool {
    var zeros = 0
    while zeros < packet.count, packet[zeros] == 0 { zeros += 1 }
    return zeros >= 2 && zeros < packet.count && packet[zeros] == 1
  }

  /// Returns whether lengths of this size lead from unit to unit and end exactly at the packet's
  /// end.
  private static func fits(_ packet: Span<UInt8>, lengthSize: Int) -> Bool {
    var position = 0
    while position < packet.count {
      guard let length = Self.length(in: packet, at: position, size: lengthSize) else {
        return false
      }
      position += lengthSize
      guard length > 0, length <= packet.count - position, packet[position] < 0x80 else {
        return false
      }
      position += length
    }
    return !packet.isEmpty
  }

  fileprivate static func length(in packet: Span<UInt8>, at position: Int, size: Int) -> Int? {
    guard size <= packet.count - position else { return nil }
    var length = 0
    for index in position..<position + size { length = length << 8 | Int(packet[index]) }
    return length
  }
}

/// Iterates over the NAL units of one packet. O(n) in total; no allocation.
struct NALUnits {
  private let framing: NALFraming
  private var position = 0

  init(_ framing: NALFraming) { self.framing = framing }

  /// Returns the range of the next unit in `packet`, never empty, or `nil` at the end. A unit whose
  /// length points past the end is truncated to the rest of the packet.
  mutating func next(in packet: Span<UInt8>) -> Range<Int>? {
    switch framing {
    case .startCodes: nextByStartCode(packet)
    case .lengths(let size): nextByLength(packet, size)
    }
  }

  private mutating func nextByLength(_ packet: Span<UInt8>, _ size: Int) -> Range<Int>? {
    while let length = NALFraming.length(in: packet, at: position, size: size) {
      position += size
      let end = position + min(length, packet.count - position)
      defer { position = end }
      if position < end { return position..<end }
    }
    return nil
  }

  private mutating func nextByStartCode(_ packet: Span<UInt8>) -> Range<Int>? {
    while let code = Self.startCode(in: packet, from: position) {
      let start = code + 3
      var end = Self.startCode(in: packet, from: start) ?? packet.count
      position = end
      // trailing_zero_8bits, and the zero_byte of the next start code.
      while end > start, packet[end - 1] == 0 { end -= 1 }
      if start < end { return start..<end }
    }
    return nil
  }

  /// Returns the index of the first 00 00 01 at or after `from`.
  private static func startCode(in packet: Span<UInt8>, from: Int) -> Int? {
    var index = from
    while index + 2 < packet.count {
      switch packet[index + 2] {
      case 0: index += 1
      case 1 where packet[index] == 0 && packet[index + 1] == 0: return index
      default: index += 3
      }
    }
    return nil
  }
}
