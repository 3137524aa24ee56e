/// The type of a box: four characters, or any other number.
package struct MP4BoxType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let number: UInt32

  init(number: UInt32) { self.number = number }

  package init(stringLiteral characters: String) {
    number = characters.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }

  package var bytes: [UInt8] { .big(Int(number), bytes: 4) }
  package var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// A box of an MP4 or MOV file (ISO/IEC 14496-12, 4.2) and its position.
package struct MP4Box: Sendable, Hashable {
  package let type: MP4BoxType
  /// The number of bytes from the start of the box to the next box, at least that of its header; `nil`
  /// if the box extends to the end of the file.
  package let size: Int?
  /// The range of the box with its header, which ends at the latest where the surrounding range ends.
  package let whole: Range<Int>
  /// The range of the content. In a `uuid` box, the extended type is its first 16 bytes.
  package let payload: Range<Int>

  /// Whether the box has a size and ends within the surrounding range.
  package var isComplete: Bool { size == whole.count }

  /// The range of a table's entries: the content without version, flags and the number of entries.
  package var entries: Range<Int> { payload.dropFirst(8) }

  /// Parses the header of a box in a file that is not in memory. Returns `nil` if it is truncated or
  /// its size is invalid.
  ///
  /// - Parameters:
  ///   - header: The box's first 16 bytes, or fewer at the end of the file.
  ///   - position: The position of the box in the file. No box ends after 2^62, so that sums of two
  ///     positions don't overflow.
  package init?(header: [UInt8], at position: Int = 0) {
    self.init(ByteReader(header), at: position, end: 1 << 62)
  }

  fileprivate init?(_ header: ByteReader, at position: Int, end: Int) {
    var reader = header
    guard let short = reader.count(4), let type = reader.integer(4) else { return nil }
    self.type = MP4BoxType(number: UInt32(truncatingIfNeeded: type))
    switch short {
    case 0: size = nil
    case 1: size = reader.integer(8).flatMap { Int(exactly: $0) }
    default: size = short
    }
    let (length, rest) = (reader.position - header.position, end - position)
    guard length <= rest, short == 0 || (size ?? 0) >= length else { return nil }
    whole = position..<position + min(size ?? rest, rest)
    payload = whole.dropFirst(length)
  }

  /// Returns the header of a box of `size` bytes, 8..<2^32.
  package static func header(_ type: MP4BoxType, size: Int) -> [UInt8] {
    .big(size, bytes: 4) + type.bytes
  }

  /// Returns a box of `type` that contains `payload`.
  package static func bytes(_ type: MP4BoxType, _ payload: [UInt8]) -> [UInt8] {
    header(type, size: payload.count + 8) + payload
  }

  /// Returns a table of `count` entries: a box of `type` with version 0 and no flags.
  package static func table(_ type: MP4BoxType, count: Int, _ entries: [UInt8]) -> [UInt8] {
    bytes(type, .big(0, bytes: 4) + .big(count, bytes: 4) + entries)
  }
}

/// Iterates over the sibling boxes in a range of an MP4 or MOV file. Stops at an invalid size. A box
/// that is longer than the rest of the range is truncated to it.
package struct MP4Boxes: Sequence, IteratorProtocol {
  private let bytes: [UInt8]
  private var rest: Range<Int>

  package init(_ bytes: [UInt8], in range: Range<Int>) {
    self.bytes = bytes
    rest = range.clamped(to: bytes.indices)
  }

  package mutating func next() -> MP4Box? {
    let box = MP4Box(ByteReader(bytes, rest), at: rest.lowerBound, end: rest.upperBound)
    if let box { rest = box.whole.upperBound..<rest.upperBound }
    return box
  }

  /// The boxes before the first incomplete one. Only complete boxes are rewritten.
  package var complete: [MP4Box] { prefix { $0.isComplete } }

  /// Returns the content of the box at the end of a path of types, the first of each.
  package static func payload(
    at path: MP4BoxType..., of bytes: [UInt8], in range: Range<Int>
  ) -> Range<Int>? {
    path.reduce(range) { range, type in
      range.flatMap { MP4Boxes(bytes, in: $0).first { $0.type == type }?.payload }
    }
  }
}
