internal import UprightOrientation

/// The orientation in a TIFF structure, as EXIF has it in JPEG, PNG and WebP (TIFF 6.0, section 2; CIPA DC-008, 4.6.4 A).
struct TIFFOrientation {
  /// The structure, from its byte order on.
  private let bytes: [UInt8]
  private let isLittle: Bool
  /// Where IFD 0 begins, and the number of its entries.
  private let (start, count): (Int, Int)
  /// The place of the entry with the orientation in IFD 0.
  let entry: Range<Int>?

  private static let tag = 0x0112

  /// Returns `nil` if there is no IFD 0.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    isLittle = bytes.starts(with: Array("II".utf8))
    guard isLittle || bytes.starts(with: Array("MM".utf8)),
      let start = Self.number(bytes, at: 4, 4, isLittle),
      let count = Self.number(bytes, at: start, 2, isLittle)
    else { return nil }
    (self.start, self.count) = (start, count)
    let places = (0..<count).lazy.map { start + 2 + 12 * $0 }
    entry = places.first { Self.number(bytes, at: $0, 2, bytes.starts(with: [0x49])) == Self.tag }
      .flatMap { $0 + 12 <= bytes.count ? $0..<$0 + 12 : nil }
  }

  private static func number(_ bytes: [UInt8], at place: Int, _ size: Int, _ isLittle: Bool) -> Int?
  {
    guard place >= 0, place <= bytes.count - size else { return nil }
    let field = bytes[place..<place + size]
    return (isLittle ? field.reversed() : Array(field)).reduce(0) { $0 << 8 | Int($1) }
  }

  private func field(_ value: Int, _ size: Int) -> [UInt8] {
    let field = [UInt8].big(value, bytes: size)
    return isLittle ? field.reversed() : field
  }

  /// The orientation; `nil` if it is absent or invalid.
  var orientation: ImageOrientation? {
    entry.flatMap { Self.number(bytes, at: $0.lowerBound + 8, 2, isLittle) }
      .flatMap { ImageOrientation(exif: $0) }
  }

  /// Whether there is an IFD with a position.
  var hasLocation: Bool {
    (0..<count).contains { Self.number(bytes, at: start + 2 + 12 * $0, 2, isLittle) == 0x8825 }
  }

  /// The entry for an orientation: the tag, the type SHORT, the count and the value.
  private func entry(_ orientation: ImageOrientation) -> [UInt8] {
    field(Self.tag, 2) + field(3, 2) + field(1, 4) + field(orientation.exif, 2) + field(0, 2)
  }

  /// Returns the edit of a structure that begins at `offset` in its file; `nil` if nothing must be written.
  ///
  /// Without an entry, IFD 0 is written again with one at the end of the structure, so that no value moves.
  func edits(_ orientation: ImageOrientation, at offset: Int) -> [ByteEdit] {
    if let entry {
      return [ByteEdit(at: offset + entry.lowerBound, Array(bytes[entry]), self.entry(orientation))]
    }
    let end = start + 2 + 12 * count
    guard orientation != .up, count < 1000, end + 4 <= bytes.count else { return [] }
    var entries = (0..<count).map { Array(bytes[start + 2 + 12 * $0..<start + 14 + 12 * $0]) }
    // In ascending order of tags.
    let place = entries.firstIndex {
      Self.number($0, at: 0, 2, isLittle) ?? 0 > Self.tag
    }
    entries.insert(self.entry(orientation), at: place ?? entries.count)
    // IFDs begin at an even offset.
    let padding = [UInt8](repeating: 0, count: bytes.count % 2)
    let directory = padding + field(count + 1, 2) + entries.flatMap(\.self) + bytes[end..<end + 4]
    return [
      ByteEdit(at: offset + 4, Array(bytes[4..<8]), field(bytes.count + padding.count, 4)),
      ByteEdit(at: offset + bytes.count, [], directory),
    ]
  }

  /// Returns a structure that has nothing but an orientation.
  static func bytes(_ orientation: ImageOrientation) -> [UInt8] {
    let head = Array("MM".utf8) + [0, 42] + [UInt8].big(8, bytes: 4) + [UInt8].big(1, bytes: 2)
    let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.exif), 0, 0]
    return head + entry + [0, 0, 0, 0]
  }
}
