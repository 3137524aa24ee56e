/// Reads big-endian numbers from a range of bytes. Reads past the end return `nil` and consume
/// nothing.
struct ByteReader {
  private let bytes: [UInt8]
  private let end: Int
  /// The index of the next byte.
  private(set) var position: Int

  init(_ bytes: [UInt8], _ range: Range<Int>? = nil) {
    self.bytes = bytes
    let range = (range ?? bytes.indices).clamped(to: bytes.indices)
    (position, end) = (range.lowerBound, range.upperBound)
  }

  /// The number of bytes left.
  var count: Int { end - position }

  /// Reads an unsigned integer of `size` bytes, 0...8.
  mutating func integer(_ size: Int) -> UInt64? {
    guard (0...8).contains(size), let range = skip(size) else { return nil }
    return bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads an unsigned integer of `size` bytes, 0...7.
  mutating func count(_ size: Int) -> Int? { integer(size).flatMap { Int(exactly: $0) } }

  /// Reads `count` bytes as UTF-8. Invalid sequences are replaced.
  mutating func text(_ count: Int) -> String? {
    skip(count).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  /// Skips `count` bytes and returns their range.
  @discardableResult mutating func skip(_ count: Int) -> Range<Int>? {
    guard count >= 0, count <= self.count else { return nil }
    defer { position += count }
    return position..<position + count
  }
}

extension [UInt8] {
  /// Reads the consecutive big-endian numbers of `width` bytes, 1...8, in `range`. Numbers above
  /// `Int.max` are clamped; bytes after the last whole number are ignored.
  package func numbers(in range: Range<Int>, width: Int) -> [Int] {
    var reader = ByteReader(self, range)
    return (0..<reader.count / width).map { _ in Int(clamping: reader.integer(width) ?? 0) }
  }

  /// Returns the low `bytes` bytes of `number`, big-endian.
  package static func big(_ number: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
  }
}
