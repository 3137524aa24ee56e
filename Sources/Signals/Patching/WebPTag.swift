internal import UprightOrientation

/// The orientation in a WebP image's `EXIF` chunk (RFC 9649, 2.7).
struct WebPTag {
  /// A chunk: its type, and the ranges of its header, content and padding.
  private struct Chunk {
    let type: String
    let content: Range<Int>
    var start: Int { content.lowerBound - 8 }
    var end: Int { content.upperBound + content.count % 2 }
  }

  private let file: any ByteFile
  private var chunks: [Chunk] = []
  private var isWhole = true
  private static let (largest, most) = (16 << 20, 1 << 16)
  /// The bit of `VP8X` that says that there is EXIF data, and the one for alpha.
  private static let (exifFlag, alphaFlag): (UInt8, UInt8) = (0x08, 0x10)

  /// - Throws: `badData` if the file has no image; what reading throws.
  init(_ file: any ByteFile) throws(UprightError) {
    self.file = file
    var position = 12
    for _ in 0..<Self.most {
      let head = try file.bytes(in: position..<position + 8)
      guard head.count == 8 else { break }
      let size = Self.little(head[4...])
      let chunk = Chunk(
        type: String(decoding: head[..<4], as: UTF8.self),
        content: position + 8..<position + 8 + size)
      guard chunk.content.upperBound <= file.size else {
        isWhole = false
        break
      }
      chunks.append(chunk)
      position = chunk.end
    }
    guard chunks.contains(where: { ["VP8 ", "VP8L", "VP8X"].contains($0.type) }) else {
      throw UprightError(
        .badData, "the file has no image", remedy: "the file is truncated or damaged")
    }
  }

  private static func little(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  private static func field(_ value: Int, _ size: Int) -> [UInt8] {
    [UInt8].big(value, bytes: size).reversed()
  }

  /// The EXIF data, and where they are; `nil` if there are none.
  private func exif() throws(UprightError) -> (
    chunk: Chunk, start: Int, structure: TIFFOrientation?
  )? {
    guard let chunk = chunks.first(where: { $0.type == "EXIF" }),
      chunk.content.count <= Self.largest
    else { return nil }
    let content = try file.bytes(in: chunk.content)
    // Some writers begin as a JPEG segment does.
    let prefix = content.starts(with: Array("Exif".utf8) + [0, 0]) ? 6 : 0
    let structure = TIFFOrientation(Array(content.dropFirst(prefix)))
    return (chunk, chunk.content.lowerBound + prefix, structure)
  }

  /// Returns the orientation; `nil` if there is no valid one.
  func orientation() throws(UprightError) -> ImageOrientation? {
    try exif()?.structure?.orientation
  }

  /// Returns whether the EXIF data say where the image was taken.
  func hasLocation() throws(UprightError) -> Bool { try exif()?.structure?.hasLocation ?? false }

  /// Returns the edits that give the image another orientation.
  ///
  /// - Throws: `badData` if the EXIF data is damaged, or the image has no size.
  func patch(_ orientation: ImageOrientation) throws(UprightError) -> OrientationPatch {
    var patch = OrientationPatch()
    patch.codec = "webp"
    let (size, hasAlpha) = try sizeAndAlpha()
    patch.size = size
    if !isWhole { patch.damage.append("the file ends before the image does") }
    let edits: [ByteEdit]
    if let exif = try exif() {
      guard let structure = exif.structure else {
        throw UprightError(
          .badData, "the EXIF data is damaged", remedy: "use transcode to turn the image")
      }
      patch.hasLocation = structure.hasLocation
      edits = grown(exif.chunk, structure.edits(orientation, at: exif.start))
    } else if orientation != .up {
      edits = try inserted(TIFFOrientation.bytes(orientation), size, hasAlpha)
    } else {
      edits = []
    }
    let added = edits.reduce(0) { $0 + $1.new.count - $1.old.count }
    if added != 0 {
      // The size of the RIFF chunk.
      let old = try file.bytes(in: 4..<8)
      patch.add(ByteEdit(at: 4, old, Self.field(Self.little(old) + added, 4)))
    }
    for edit in edits { patch.add(edit) }
    return try patch.ordered()
  }

  /// Returns the edits of an EXIF chunk with those of its size and its padding.
  private func grown(_ exif: Chunk, _ edits: [ByteEdit]) -> [ByteEdit] {
    let added = edits.reduce(0) { $0 + $1.new.count - $1.old.count }
    guard added > 0 else { return edits }
    let size = ByteEdit(
      at: exif.start + 4, Self.field(exif.content.count, 4),
      Self.field(exif.content.count + added, 4))
    let wasPadded = exif.content.count % 2 == 1
    let isPadded = (exif.content.count + added) % 2 == 1
    var edits = edits + [size]
    // What is inserted at the end of the content comes before the padding.
    if isPadded, !wasPadded,
      let last = edits.firstIndex(where: { $0.offset == exif.content.upperBound })
    {
      edits[last] = ByteEdit(at: edits[last].offset, [], edits[last].new + [0])
    } else if wasPadded, !isPadded,
      let last = edits.firstIndex(where: { $0.offset == exif.content.upperBound })
    {
      edits[last] = ByteEdit(at: edits[last].offset, [0], edits[last].new)
    }
    return edits
  }

  /// Returns the edits that insert EXIF data, and the extended header that it needs.
  private func inserted(
    _ content: [UInt8], _ size: PixelSize, _ hasAlpha: Bool
  ) throws(UprightError) -> [ByteEdit] {
    let last = chunks.first { $0.type == "XMP " }?.start ?? min(chunks.last?.end ?? 12, file.size)
    let chunk = Array("EXIF".utf8) + Self.field(content.count, 4) + content
    let exif = ByteEdit(at: last, [], chunk)
    if let header = chunks.first(where: { $0.type == "VP8X" }) {
      let old = try file.bytes(in: header.content.lowerBound..<header.content.lowerBound + 1)
      return [ByteEdit(at: header.content.lowerBound, old, old.map { $0 | Self.exifFlag }), exif]
    }
    let flags = Self.exifFlag | (hasAlpha ? Self.alphaFlag : 0)
    let header =
      Array("VP8X".utf8) + Self.field(10, 4) + [flags, 0, 0, 0] + Self.field(size.width - 1, 3)
      + Self.field(size.height - 1, 3)
    return [ByteEdit(at: 12, [], header), exif]
  }

  /// Returns the size of the canvas, and whether a plain image has alpha.
  private func sizeAndAlpha() throws(UprightError) -> (PixelSize, Bool) {
    for chunk in chunks {
      let head = try file.bytes(in: chunk.content.lowerBound..<chunk.content.lowerBound + 10)
      switch chunk.type {
      case "VP8X" where head.count == 10:
        return (PixelSize(Self.little(head[4..<7]) + 1, Self.little(head[7..<10]) + 1), false)
      case "VP8 " where head.count == 10:
        let (width, height) = (Self.little(head[6..<8]), Self.little(head[8..<10]))
        return (PixelSize(width & 0x3FFF, height & 0x3FFF), false)
      case "VP8L" where head.count >= 5 && head[0] == 0x2F:
        let bits = Self.little(head[1..<5])
        return (PixelSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1), bits >> 28 & 1 == 1)
      default: continue
      }
    }
    throw UprightError(.badData, "the image has no size", remedy: "the file is damaged")
  }
}
