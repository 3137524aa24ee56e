internal import UprightOrientation

/// Changes the EXIF orientation of a JPEG image, and that of a motion photo's video. The compressed image stays as it is.
struct JPEGTag {
  /// A marker segment: its marker, the place of its first byte, and its content.
  struct Segment {
    let marker: UInt8
    let start: Int
    let content: [UInt8]
    var contentStart: Int { start + 4 }
  }

  private static let exif = Array("Exif".utf8) + [0, 0]
  private static let xmp = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
  /// The largest number of bytes of segments that are read.
  private static let limit = 64 << 20

  let segments: [Segment]
  /// The size of the stored image.
  private(set) var size = PixelSize(0, 0)
  /// The largest content of a segment.
  private static let largest = 65533

  /// Reads the segments before the first scan (ISO/IEC 10918-1, B.1.1.3).
  init(_ file: any ByteFile) throws(UprightError) {
    var segments: [Segment] = []
    var position = 2
    while position < Self.limit {
      let head = try file.bytes(in: position..<position + 4)
      guard head.count == 4, head[0] == 0xFF else { break }
      // A fill byte.
      if head[1] == 0xFF {
        position += 1
        continue
      }
      guard head[1] != 0xDA, head[1] != 0xD9 else { break }
      let length = Int(head[2]) << 8 | Int(head[3])
      guard length >= 2 else { break }
      let content = try file.bytes(in: position + 4..<position + 2 + length)
      guard content.count == length - 2 else { break }
      segments.append(Segment(marker: head[1], start: position, content: content))
      position += 2 + length
    }
    self.segments = segments
    // Start of frame: DHT, JPG and DAC have markers of the same row.
    let frame = segments.first {
      $0.marker & 0xF0 == 0xC0 && ![0xC4, 0xC8, 0xCC].contains($0.marker)
    }
    guard let frame, frame.content.count >= 5 else {
      throw UprightError(
        .badData, "the image has no frame header", remedy: "the file is truncated or damaged")
    }
    let numbers = frame.content.numbers(in: 1..<5, width: 2)
    size = PixelSize(numbers[1], numbers[0])
  }

  private var exifSegment: Segment? {
    segments.first { $0.marker == 0xE1 && $0.content.starts(with: Self.exif) }
  }

  private func structure(_ segment: Segment) -> TIFFOrientation? {
    TIFFOrientation(Array(segment.content.dropFirst(Self.exif.count)))
  }

  /// The orientation in the image's EXIF.
  var orientation: ImageOrientation? {
    exifSegment.flatMap { structure($0) }.flatMap(\.orientation)
  }

  /// Whether the image's EXIF says where it was taken.
  var hasLocation: Bool { exifSegment.flatMap { structure($0) }?.hasLocation ?? false }

  /// Returns where the video of a motion photo is; `nil` if there is none.
  func video(of file: any ByteFile) throws(UprightError) -> Range<Int>? {
    let packets = segments.filter { $0.marker == 0xE1 && $0.content.starts(with: Self.xmp) }
    return try MotionPhoto.video(of: file, packets.map(\.content))
  }

  static func patch(
    _ file: any ByteFile, _ orientation: ImageOrientation, isForced: Bool
  ) throws(UprightError) -> OrientationPatch {
    let image = try JPEGTag(file)
    var patch = OrientationPatch()
    (patch.codec, patch.size) = ("mjpeg", image.size)
    for edit in try image.edits(orientation) { patch.add(edit) }
    patch.hasLocation = image.hasLocation
    if let video = try image.video(of: file) {
      let still = StillOrientation(
        size: image.size, old: image.orientation ?? .up, new: orientation)
      try patch.add(video: video, of: file, still, isForced: isForced)
    }
    if try file.bytes(in: max(0, file.size - 2)..<file.size) != [0xFF, 0xD9],
      file.size < (image.segments.last?.start ?? 0) + 64
    {
      patch.damage.append("the file ends within its headers")
    }
    return try patch.ordered()
  }

  /// Returns the edits of an orientation that is there, such as that of a frame of Motion JPEG.
  func presentEdits(_ orientation: ImageOrientation) -> [ByteEdit] {
    guard self.orientation != nil, let old = exifSegment, let structure = structure(old) else {
      return []
    }
    return structure.edits(orientation, at: old.contentStart + Self.exif.count)
  }

  /// Returns the edits of EXIF and XMP; those of a new segment if there is no EXIF.
  func edits(_ orientation: ImageOrientation) throws(UprightError) -> [ByteEdit] {
    var edits = segments.flatMap {
      XMPOrientation.edits(of: $0.content, orientation, at: $0.contentStart)
    }
    let old = exifSegment
    if let old, let structure = structure(old) {
      let found = structure.edits(orientation, at: old.contentStart + Self.exif.count)
      let added = found.reduce(0) { $0 + $1.new.count - $1.old.count }
      guard old.content.count + added <= Self.largest else {
        throw UprightError(
          .badData, "the EXIF data has no orientation and no room for one",
          remedy: "use transcode to turn the image")
      }
      edits += found
      if added > 0 {
        let lengths = [old.content.count + 2, old.content.count + 2 + added]
          .map { [UInt8].big($0, bytes: 2) }
        edits.append(ByteEdit(at: old.start + 2, lengths[0], lengths[1]))
        edits += MultiPicture.edits(segments, added: added)
      }
    } else if orientation != .up, old == nil {
      let content = Self.exif + TIFFOrientation.bytes(orientation)
      let segment = [0xFF, 0xE1] + [UInt8].big(content.count + 2, bytes: 2) + content
      // JFIF's segment comes first.
      let first = segments.first.flatMap {
        $0.marker == 0xE0 ? $0.contentStart + $0.content.count : nil
      }
      edits.append(ByteEdit(at: first ?? 2, [], segment))
      edits += MultiPicture.edits(segments, added: segment.count)
    } else if old != nil, orientation != .up {
      throw UprightError(
        .badData, "the EXIF data is damaged", remedy: "use transcode to turn the image")
    }
    return edits
  }
}

/// The index of a file with several JPEG images (CIPA DC-007): a gain map, a preview.
enum MultiPicture {
  /// Returns the edit of the first image's size, which grows by `added`. The offsets of the others are relative to the
  /// index, which moves with them.
  static func edits(_ segments: [JPEGTag.Segment], added: Int) -> [ByteEdit] {
    guard
      let segment = segments.first(where: {
        $0.marker == 0xE2 && $0.content.starts(with: Array("MPF".utf8) + [0])
      })
    else { return [] }
    let bytes = Array(segment.content.dropFirst(4))
    let isLittle = bytes.starts(with: Array("II".utf8))
    func number(_ place: Int, _ size: Int) -> Int? {
      guard place >= 0, place <= bytes.count - size else { return nil }
      let field = bytes[place..<place + size]
      return (isLittle ? field.reversed() : Array(field)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let start = number(4, 4), let count = number(start, 2) else { return [] }
    for entry in 0..<count {
      let place = start + 2 + 12 * entry
      // MPEntry: for each image its attributes, size, offset and dependents. The first image's offset is 0.
      guard number(place, 2) == 0xB002 else { continue }
      guard let list = number(place + 8, 4), let size = number(list + 4, 4),
        number(list + 8, 4) == 0
      else { return [] }
      let old = Array(bytes[list + 4..<list + 8])
      let new = [UInt8].big(size + added, bytes: 4)
      return [
        ByteEdit(at: segment.contentStart + 4 + list + 4, old, isLittle ? new.reversed() : new)
      ]
    }
    return []
  }
}

/// The orientation in XMP, which repeats EXIF's: `tiff:Orientation="6"`, or the same as an element.
enum XMPOrientation {
  private static let names = [Array("tiff:Orientation=\"".utf8), Array("tiff:Orientation>".utf8)]

  static func edits(
    of content: [UInt8], _ orientation: ImageOrientation, at offset: Int
  ) -> [ByteEdit] {
    guard content.starts(with: Array("http://ns.adobe.com/x".utf8)) else { return [] }
    var edits: [ByteEdit] = []
    for name in names {
      var place = 0
      while let found = content[place...].firstRange(of: name) {
        place = found.upperBound
        guard place + 1 < content.count, (0x31...0x38).contains(content[place]),
          !(0x30...0x39).contains(content[place + 1])
        else { continue }
        edits.append(
          ByteEdit(at: offset + place, [content[place]], [0x30 + UInt8(orientation.exif)]))
      }
    }
    return edits
  }
}
