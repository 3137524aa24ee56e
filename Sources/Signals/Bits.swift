/// Reads syntax elements, most significant bit first. Reads past the end return `nil`.
struct BitReader {
  private let bytes: [UInt8]
  /// The position in bits.
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads u(1).
  mutating func flag() -> Bool? { bits(1).map { $0 == 1 } }

  /// Reads u(n), n up to 32. Consumes nothing if fewer bits are left.
  mutating func bits(_ count: Int) -> UInt32? {
    guard count <= bytes.count * 8 - position else { return nil }
    var value: UInt32 = 0
    for _ in 0..<count {
      value = value << 1 | UInt32(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
      position += 1
    }
    return value
  }

  /// Reads ue(v) (ISO/IEC 14496-10, 9.1), up to 2^31 - 2. Returns `nil` for longer codes.
  mutating func exponentialGolomb() -> UInt32? {
    var zeros = 0
    while true {
      guard let isOne = flag() else { return nil }
      if isOne { break }
      zeros += 1
    }
    guard zeros < 31, let suffix = bits(zeros) else { return nil }
    return (1 << UInt32(zeros)) - 1 + suffix
  }
}

/// Writes syntax elements, most significant bit first.
struct BitWriter {
  private var bytes: [UInt8] = []
  private var used = 0

  /// Writes u(n): the low `count` bits of `value`.
  mutating func append(_ value: UInt32, count: Int) {
    for shift in (0..<count).reversed() {
      if used & 7 == 0 { bytes.append(0) }
      bytes[bytes.count - 1] |= UInt8(value >> UInt32(shift) & 1) << UInt8(7 - used & 7)
      used += 1
    }
  }

  /// Writes ue(v).
  mutating func appendExponentialGolomb(_ value: UInt16) {
    let code = UInt32(value) + 1
    let length = UInt32.bitWidth - code.leadingZeroBitCount
    append(0, count: length - 1)
    append(code, count: length)
  }

  /// Returns the written bits followed by rbsp_trailing_bits() (ISO/IEC 14496-10, 7.3.2.11).
  func trailed() -> [UInt8] {
    var ended = self
    ended.append(1, count: 1)
    return ended.bytes
  }

  /// Returns the written bits, padded to a whole byte with a one and zeros if necessary.
  func aligned() -> [UInt8] {
    guard used & 7 != 0 else { return bytes }
    var filled = self
    filled.append(1, count: 1)
    return filled.bytes
  }
}
