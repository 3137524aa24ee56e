/// How NAL units lie in a packet.
public enum NALFraming: Sendable, Hashable {
  /// Start codes (Annex B of both standards).
  case startCodes
  /// Each unit behind its length in this many bytes, 1...4 (ISO/IEC 14496-15).
  case lengths(Int)

  /// What the container's decoder configuration promises: avcC and hvcC say the size of the lengths;
  /// nothing, and anything else, means start codes.
  public init(configuration: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec) {
    let head = Array(configuration.prefix(23))
    switch codec {
    case .h264 where head.count >= 7 && head[0] == 1:
      self = .lengths(Int(head[4] & 3) + 1)
    // Old writers left hvcC's configurationVersion at 0; no start code begins like that.
    case .hevc where head.count >= 23 && (head[0] != 0 || head[1] != 0 || head[2] > 1):
      self = .lengths(Int(head[21] & 3) + 1)
    default: self = .startCodes
    }
  }

  /// How the units of this packet lie: as promised, unless the bytes plainly say otherwise.
  func actual(in packet: Span<UInt8>) -> NALFraming {
    switch self {
    case .startCodes:
      // Packets of a file whose configuration was lost.
      return !Self.beginsWithStartCode(packet) && Self.fits(packet, lengthSize: 4)
        ? .lengths(4) : .startCodes
    case .lengths(let size):
      // 00 00 01 xx is a length too: only where the lengths do not add up are they start codes.
      return Self.beginsWithStartCode(packet) && !Self.fits(packet, lengthSize: size)
        ? .startCodes : self
    }
  }

  private static func beginsWithStartCode(_ packet: Span<UInt8>) -> Bool {
    var zeros = 0
    while zeros < packet.count, packet[zeros] == 0 { zeros += 1 }
    return zeros >= 2 && zeros < packet.count && packet[zeros] == 1
  }

  /// Whether lengths of that size lead from unit to unit and exactly to the packet's end.
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

/// Walks over the NAL units of one packet. O(n) in all; no allocation.
struct NALUnits {
  private let framing: NALFraming
  private var position = 0

  init(_ framing: NALFraming) { self.framing = framing }

  /// Where the next unit lies in `packet`, never empty; nil at the end. A unit whose length points past
  /// the end is what is left of it.
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

  /// The place of the first 00 00 01 at or after `from`.
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
