internal import UprightOrientation
internal import UprightSignals

/// The `Video` elements of a Matroska or WebM file (RFC 9559, 5.1.4.1.28): sizes, cropping and the display
/// size of its tracks. libavformat ignores the cropping up to version 7.
enum MatroskaVideo {
  /// The largest `Tracks` element that is read, in bytes.
  private static let limit = 1 << 20

  /// Returns the shapes of the video tracks, in their order. Empty if `read` isn't from a Matroska file, or its
  /// tracks aren't before its first cluster.
  ///
  /// - Parameter read: Returns up to a number of bytes from a position on.
  static func shapes(_ read: (_ position: Int, _ count: Int) -> [UInt8]) -> [StreamShape] {
    /// Returns the element at `position`, whose content is at `start` of the file.
    func element(at position: Int) -> (element: EBMLElement, start: Int)? {
      EBMLElement(read(position, EBMLElement.headerLimit), at: 0).map {
        ($0, position + $0.content)
      }
    }
    // Sizes have at most 56 bits, and nothing is read beyond the end, so no sum of positions overflows.
    guard let header = element(at: 0), header.element.id == MatroskaID.header,
      let size = header.element.size, let segment = element(at: header.start + size),
      segment.element.id == MatroskaID.segment
    else { return [] }
    var position = segment.start
    for _ in 0..<100 {
      guard let (element, start) = element(at: position), element.id != MatroskaID.cluster,
        let size = element.size
      else { return [] }
      if element.id == MatroskaID.tracks {
        let bytes = read(start, min(size, limit))
        return children(of: bytes, in: bytes.indices).filter { $0.id == MatroskaID.entry }
          .compactMap { shape(of: bytes, entry: $0.content) }
      }
      position = start + size
    }
    return []
  }

  /// Returns the elements in a range of `bytes`, up to the first invalid one.
  private static func children(
    of bytes: [UInt8], in range: Range<Int>
  ) -> [(id: UInt32, content: Range<Int>)] {
    var found: [(id: UInt32, content: Range<Int>)] = []
    var position = range.lowerBound
    while position < range.upperBound, let element = EBMLElement(bytes, at: position),
      let size = element.size, element.content <= range.upperBound
    {
      let end = element.content + min(size, range.upperBound - element.content)
      found.append((element.id, element.content..<end))
      position = end
    }
    return found
  }

  /// Returns the shape of a track. `nil` if it isn't video.
  private static func shape(of bytes: [UInt8], entry: Range<Int>) -> StreamShape? {
    func number(_ range: Range<Int>) -> Int {
      Int(clamping: bytes[range.prefix(8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    let parts = children(of: bytes, in: entry)
    guard parts.first(where: { $0.id == MatroskaID.trackType }).map({ number($0.content) }) == 1,
      let video = parts.first(where: { $0.id == MatroskaID.video })
    else { return nil }
    // Of a repeated element, the last one counts, as for libavformat.
    let numbers = Dictionary(
      children(of: bytes, in: video.content).map { ($0.id, number($0.content)) }
    ) { _, last in last }
    func edge(_ id: UInt32) -> Int { numbers[id] ?? 0 }
    let declared = PixelSize(edge(0xB0), edge(0xBA))
    var shape = StreamShape(
      declared: declared, edges: (edge(0x54CC), edge(0x54BB), edge(0x54DD), edge(0x54AA)))
    // The units 0 to 3 are pixels, centimetres, inches and an aspect ratio; 4 is unknown. Pixels have a default:
    // the size that is left by the cropping.
    let part = Size(shape.crop?.size ?? declared)
    switch (numbers[0x54B0], numbers[0x54BA], edge(0x54B2)) {
    case (let width, let height, 0):
      shape.show(
        Size(
          width: width.map { Double($0) } ?? part.width,
          height: height.map { Double($0) } ?? part.height))
    case (let width?, let height?, 1...3):
      shape.show(Size(width: Double(width), height: Double(height)))
    default: break
    }
    return shape
  }
}
