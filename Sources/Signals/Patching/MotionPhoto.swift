internal import UprightOrientation

/// The video in the file of a still image that was taken with it.
enum MotionPhoto {
  /// Returns where the video is; `nil` if there is none.
  ///
  /// - Parameter packets: The image's XMP.
  static func video(of file: any ByteFile, _ packets: [[UInt8]]) throws(UprightError) -> Range<Int>?
  {
    for packet in packets {
      if let range = Self.range(packet, size: file.size), try isMovie(file, range) { return range }
    }
    if let range = try trailer(of: file), try isMovie(file, range) { return range }
    return nil
  }

  private static func isMovie(_ file: any ByteFile, _ range: Range<Int>) throws(UprightError)
    -> Bool
  {
    let head = try file.bytes(in: range.lowerBound..<min(range.upperBound, range.lowerBound + 16))
    return MP4Box(header: head)?.type == "ftyp"
  }

  // MARK: - Google's trailer, described by XMP

  /// Returns the range that XMP describes: `GCamera:MicroVideoOffset` counts from the end of the file, and the items of
  /// a `Container:Directory` lie one after the other, the last one at the end of the file.
  private static func range(_ packet: [UInt8], size: Int) -> Range<Int>? {
    var after = 0
    for item in items(packet).reversed() {
      let length = number("Item:Length", in: item) ?? 0
      if text("Item:Semantic", in: item) == "MotionPhoto" {
        return range(length: length, before: size - after)
      }
      after = min(size, after + length + (number("Item:Padding", in: item) ?? 0))
    }
    return number("GCamera:MicroVideoOffset", in: packet[...])
      .flatMap { range(length: $0, before: size) }
  }

  private static func range(length: Int, before end: Int) -> Range<Int>? {
    length > 8 && length < end ? end - length..<end : nil
  }

  /// The text of each `Container:Item` element, up to the next one.
  private static func items(_ packet: [UInt8]) -> [ArraySlice<UInt8>] {
    let name = Array("<Container:Item".utf8)
    var starts: [Int] = []
    var place = 0
    while starts.count < 64, let found = packet[place...].firstRange(of: name) {
      starts.append(found.lowerBound)
      place = found.upperBound
    }
    return starts.enumerated().map { index, start in
      packet[start..<(index + 1 < starts.count ? starts[index + 1] : packet.count)]
    }
  }

  /// Returns the value of an attribute, or of an element with that name.
  private static func text(_ name: String, in packet: ArraySlice<UInt8>) -> String? {
    guard let found = packet.firstRange(of: Array(name.utf8)) else { return nil }
    let rest = packet[found.upperBound...].drop { [0x20, 0x3D, 0x22, 0x27, 0x3E].contains($0) }
    return String(
      decoding: rest.prefix { ![0x22, 0x27, 0x3C].contains($0) }.prefix(64), as: UTF8.self)
  }

  private static func number(_ name: String, in packet: ArraySlice<UInt8>) -> Int? {
    text(name, in: packet).flatMap { Int($0) }.flatMap { $0 >= 0 && $0 < 1 << 40 ? $0 : nil }
  }

  // MARK: - Samsung's trailer

  /// Returns the range of `MotionPhoto_Data` in the trailer that ends with SEFT: a directory (SEFH) of blocks that lie
  /// before it, each with its distance and length.
  private static func trailer(of file: any ByteFile) throws(UprightError) -> Range<Int>? {
    let size = file.size
    guard size > 20 else { return nil }
    let tail = try file.bytes(in: size - 8..<size)
    guard tail.count == 8, tail.suffix(4).elementsEqual("SEFT".utf8) else { return nil }
    let length = little(tail, 0, 4)
    guard length >= 12, length <= min(size - 8, 1 << 16) else { return nil }
    let start = size - 8 - length
    let directory = try file.bytes(in: start..<size - 8)
    guard directory.starts(with: Array("SEFH".utf8)), directory.count == length else { return nil }
    for entry in 0..<min(little(directory, 8, 4), (length - 12) / 12) {
      let place = 12 + 12 * entry
      let (distance, count) = (little(directory, place + 4, 4), little(directory, place + 8, 4))
      guard distance <= start, count <= distance, count > 8 else { continue }
      // Two bytes of padding, the type, the length of the name, the name, the data.
      let block = start - distance
      let head = try file.bytes(in: block..<block + 8 + 64)
      guard head.count >= 24 else { continue }
      let name = little(head, 4, 4)
      guard name <= min(64, count - 8, head.count - 8),
        head[8..<8 + name].elementsEqual("MotionPhoto_Data".utf8)
      else { continue }
      return block + 8 + name..<block + count
    }
    return nil
  }

  private static func little(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int {
    bytes[place..<place + size].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

/// How a still image is turned.
struct StillOrientation {
  let size: PixelSize
  let old: ImageOrientation
  let new: ImageOrientation
}

extension OrientationPatch {
  /// Adds the edits of a motion photo's video.
  mutating func add(
    video range: Range<Int>, of file: any ByteFile, _ still: StillOrientation, isForced: Bool
  ) throws(UprightError) {
    let part = FilePart(file: file, range: range)
    let movie = try MovieTag(part, still.new)
    var orientation = still.new
    // Where the frames of the video lie otherwise than the image, they are turned by as much as it is.
    if let old = movie.orientationBefore, movie.size.isLandscape != still.size.isLandscape {
      orientation = old.then(still.old.inverse).then(still.new)
    }
    let patch = try MovieTag.patch(part, orientation, isForced: isForced)
    for edit in patch.edits {
      add(ByteEdit(at: range.lowerBound + edit.offset, edit.old, edit.new))
    }
    hasLocation = hasLocation || patch.hasLocation
    damage += patch.damage
  }
}
