/// Iterates over the sibling boxes in a range of an MP4 or MOV file (ISO/IEC 14496-12, 4.2). Stops
/// at an invalid size. A box that is longer than the rest of the range is truncated to it.
struct MP4Boxes: Sequence, IteratorProtocol {
  /// One box: its type, four characters or any other number, and the range of its content.
  struct Box {
    let type: UInt32
    let body: Range<Int>
  }

  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  init(_ bytes: [UInt8], in range: Range<Int>) {
    self.bytes = bytes
    let range = range.clamped(to: bytes.indices)
    (position, end) = (range.lowerBound, range.upperBound)
  }

  mutating func next() -> Box? {
    var reader = ByteReader(bytes, position..<end)
    guard let short = reader.count(4), let type = reader.integer(4) else { return nil }
    let length: Int?
    switch short {
    case 0: length = end - position
    case 1: length = reader.integer(8).map { Int(clamping: $0) }
    default: length = short
    }
    let header = reader.position - position
    guard let length, length >= header else { return nil }
    let next = position + Swift.min(length, end - position)
    defer { position = next }
    return Box(type: UInt32(truncatingIfNeeded: type), body: reader.position..<next)
  }

  /// Returns the content of the first box of type `type`.
  static func first(_ type: String, _ bytes: [UInt8], in range: Range<Int>) -> Range<Int>? {
    let wanted = MP4BoxHeader.type(type)
    return MP4Boxes(bytes, in: range).first { $0.type == wanted }?.body
  }

  /// Returns the content of the box at the end of a path of types.
  static func first(_ path: [String], _ bytes: [UInt8], in range: Range<Int>) -> Range<Int>? {
    var range = range
    for type in path {
      guard let inner = first(type, bytes, in: range) else { return nil }
      range = inner
    }
    return range
  }

  /// Returns the contents of all boxes of type `type`.
  static func all(_ type: String, _ bytes: [UInt8], in range: Range<Int>) -> [Range<Int>] {
    let wanted = MP4BoxHeader.type(type)
    return MP4Boxes(bytes, in: range).filter { $0.type == wanted }.map(\.body)
  }
}

/// The header of a box in a file that is not in memory.
package struct MP4BoxHeader: Sendable, Hashable {
  /// The type: four characters, or any other number.
  package let type: UInt32
  /// The number of bytes from the start of the box to the next box, at least `headerSize`; `nil` if
  /// it extends to the end of the file.
  package let size: Int?
  /// The number of bytes before the content: 8 or 16.
  package let headerSize: Int

  /// Parses a header. Returns `nil` if it is truncated or its size is invalid.
  ///
  /// - Parameter bytes: the box's first 16 bytes, or fewer at the end of the file.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let short = reader.count(4), let type = reader.integer(4) else { return nil }
    self.type = UInt32(truncatingIfNeeded: type)
    switch short {
    case 0: size = nil
    case 1: size = reader.integer(8).flatMap { Int(exactly: $0) }
    default: size = short
    }
    headerSize = reader.position
    guard short == 0 || (size ?? 0) >= headerSize else { return nil }
  }

  /// Returns the type that is written as these four characters.
  package static func type(_ characters: String) -> UInt32 {
    characters.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
