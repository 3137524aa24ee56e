internal import UprightOrientation

/// The orientation in a PNG image's `eXIf` chunk (PNG, third edition, 11.3.3.3).
struct PNGTag {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  /// The largest EXIF data that are read, and the most chunks.
  private static let (largest, most) = (16 << 20, 1 << 16)

  private var size = PixelSize(0, 0)
  private let headerEnd: Int
  /// The chunk with the EXIF data, and where it is; `nil` if there is none.
  private var exif: (start: Int, chunk: [UInt8])?
  private var isWhole = false

  /// - Throws: `badData` if the image has no header; what reading throws.
  init(_ file: any ByteFile) throws(UprightError) {
    var position = Self.signature.count
    var header: Int?
    for _ in 0..<Self.most {
      let head = try file.bytes(in: position..<position + 8)
      guard head.count == 8 else { break }
      let length = head.numbers(in: 0..<4, width: 4)[0]
      let end = position + 12 + length
      guard end <= file.size else { break }
      switch String(decoding: head[4...], as: UTF8.self) {
      case "IHDR":
        let content = try file.bytes(in: position + 8..<position + 16)
        let numbers = content.numbers(in: 0..<8, width: 4)
        guard numbers.count == 2 else { break }
        size = PixelSize(numbers[0], numbers[1])
        header = end
      case "eXIf" where exif == nil && length <= Self.largest:
        exif = (position, try file.bytes(in: position..<end))
      case "IEND": isWhole = true
      default: break
      }
      if isWhole { break }
      position = end
    }
    guard let header else {
      throw UprightError(
        .badData, "the image has no header (IHDR)", remedy: "the file is truncated or damaged")
    }
    headerEnd = header
  }

  private var content: [UInt8]? { exif.map { Array($0.chunk[8..<$0.chunk.count - 4]) } }

  /// The orientation; `nil` if there is no valid one.
  var orientation: ImageOrientation? { content.flatMap { TIFFOrientation($0)?.orientation } }

  /// Whether the EXIF data say where the image was taken.
  var hasLocation: Bool { content.flatMap { TIFFOrientation($0)?.hasLocation } ?? false }

  /// Returns the edits that give the image another orientation.
  ///
  /// - Throws: `badData` if the EXIF data is damaged.
  func patch(_ orientation: ImageOrientation) throws(UprightError) -> OrientationPatch {
    var patch = OrientationPatch()
    (patch.codec, patch.size, patch.hasLocation) = ("png", size, hasLocation)
    if !isWhole { patch.damage.append("the file ends before the image does") }
    if let exif, let content {
      patch.add(ByteEdit(at: exif.start, exif.chunk, try Self.chunk(content, orientation)))
    } else if orientation != .up {
      let content = TIFFOrientation.bytes(orientation)
      patch.add(ByteEdit(at: headerEnd, [], Self.chunk(content)))
    }
    return try patch.ordered()
  }

  /// Returns a chunk with another orientation.
  private static func chunk(
    _ content: [UInt8], _ orientation: ImageOrientation
  ) throws(UprightError) -> [UInt8] {
    guard let structure = TIFFOrientation(content) else {
      throw UprightError(
        .badData, "the EXIF data is damaged", remedy: "use transcode to turn the image")
    }
    var new = content
    for edit in structure.edits(orientation, at: 0).sorted(by: { $0.offset > $1.offset }) {
      new.replaceSubrange(edit.offset..<edit.offset + edit.old.count, with: edit.new)
    }
    return chunk(new)
  }

  /// Returns an `eXIf` chunk: length, type, content, checksum.
  private static func chunk(_ content: [UInt8]) -> [UInt8] {
    let body = Array("eXIf".utf8) + content
    return [UInt8].big(content.count, bytes: 4) + body + [UInt8].big(Int(CRC32.of(body)), bytes: 4)
  }
}

/// The checksum of PNG and EBML (ISO 3309).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
  }
}
