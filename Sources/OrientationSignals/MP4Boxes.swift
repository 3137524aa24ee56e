/// Walks over the boxes that lie side by side in a stretch of an MP4 or MOV file (ISO/IEC 14496-12,
/// 4.2). It ends where a size makes no sense; a box that is longer than the rest is cut to it.
struct MP4Boxes: Sequence, IteratorProtocol {
  /// One box: its type, four characters or any other number, and where its content lies.
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

  /// The first box of that type.
  static func first(_ type: String, _ bytes: [UInt8], in range: Range<Int>) -> Range<Int>? {
    let wanted = fourCharacters(type)
    return MP4Boxes(bytes, in: range).first { $0.type == wanted }?.body
  }

  /// The box at the end of a path of types.
  static func first(_ path: [String], _ bytes: [UInt8], in range: Range<Int>) -> Range<Int>? {
    var range = range
    for type in path {
      guard let inner = first(type, bytes, in: range) else { return nil }
      range = inner
    }
    return range
  }

  /// All boxes of that type.
  static func all(_ type: String, _ bytes: [UInt8], in range: Range<Int>) -> [Range<Int>] {
    let wanted = fourCharacters(type)
    return MP4Boxes(bytes, in: range).filter { $0.type == wanted }.map(\.body)
  }

  static func fourCharacters(_ text: String) -> UInt32 {
    text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// The head of a box of a file that is not in memory.
public struct MP4BoxHeader: Sendable, Hashable {
  /// Whether it is the movie's index, `moov`.
  public let isMovie: Bool
  /// Bytes from the box's first to the next box, at least `headerSize`; nil: to the file's end.
  public let size: Int?
  /// Bytes in front of the content: 8 or 16.
  public let headerSize: Int

  /// Reads a header; nil where it is cut off or its size makes no sense.
  ///
  /// - Parameter bytes: the box's first 16 bytes, or all there are.
  public init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let short = reader.count(4), let type = reader.integer(4) else { return nil }
    isMovie = type == UInt64(MP4Boxes.fourCharacters("moov"))
    switch short {
    case 0: size = nil
    case 1: size = reader.integer(8).flatMap { Int(exactly: $0) }
    default: size = short
    }
    headerSize = reader.position
    guard short == 0 || (size ?? 0) >= headerSize else { return nil }
  }
}
