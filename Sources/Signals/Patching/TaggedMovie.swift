internal import UprightOrientation

/// The boxes at the top level of an MP4 or MOV file, and the content of its index (ISO/IEC 14496-12, 4.2 and 8.2.1).
struct TaggedMovie {
  /// The content of the `moov` box.
  let movie: [UInt8]
  /// Where it begins in the file.
  let position: Int
  /// The content of the `meta` box of the file, in which HEIF describes its images; empty if there is none.
  private(set) var meta = 0..<0
  /// The `moof` boxes.
  private(set) var fragments: [Range<Int>] = []
  /// What is missing at the end of the file; `nil` if it is whole.
  private(set) var damage: String?

  /// The largest index that is read into memory.
  private static let largestIndex = 256 << 20
  /// The largest number of boxes that are read. Fragmented files have two for each fragment.
  private static let mostBoxes = 1 << 20

  /// - Throws: `badData` if the file isn't such a file, or if its index is incomplete.
  init(_ file: any ByteFile) throws(UprightError) {
    var index: MP4Box?
    var position = 0
    for _ in 0..<Self.mostBoxes {
      let header = try file.bytes(in: position..<position + 16)
      // What follows the last box, and isn't one, is no part of the movie.
      guard let box = MP4Box(header: header, at: position), box.type.isText else { break }
      let end = box.size == nil ? file.size : box.whole.upperBound
      if end > file.size {
        damage = "the file ends within its \(box.type) box, \(end - file.size) bytes too early"
      }
      switch box.type {
      // libavformat reads the first one.
      case "moov" where index == nil: index = box
      case "moof": fragments.append(position..<min(end, file.size))
      case "meta": meta = box.payload.lowerBound..<min(end, file.size)
      default: break
      }
      if end >= file.size { break }
      position = end
    }
    guard let index else {
      guard !meta.isEmpty else {
        throw UprightError(
          .badData, "the movie has no index (moov)",
          remedy: "the file is truncated, or was never finished")
      }
      (movie, self.position) = ([], 0)
      return
    }
    let content = index.payload.lowerBound..<min(index.payload.upperBound, file.size)
    guard content.count <= Self.largestIndex else {
      throw UprightError(.badData, "the index (moov) has \(content.count) bytes")
    }
    movie = try file.bytes(in: content)
    self.position = content.lowerBound
    guard index.size == nil || index.whole.upperBound <= file.size else {
      throw UprightError(
        .badData, "the movie's index (moov) is truncated", remedy: "the file is truncated")
    }
  }
}

extension MP4BoxType {
  /// Whether the type has four printable characters, or those of QuickTime's `©` types.
  var isText: Bool { bytes.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0xA9 } }
}
