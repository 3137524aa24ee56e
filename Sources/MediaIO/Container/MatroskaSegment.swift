internal import UprightSignals

/// The segment of a Matroska or WebM file, which has all of its media and tags.
enum MatroskaSegment {
  /// The maximum number of tags. libavformat adds each one to a list that it searches from the start, so that the time to open
  /// a file is the square of their number: 100 000 of them, in 3 MB, take a minute, and so many less than a second.
  static let mostTags = 10_000

  /// The first bytes of a SimpleTag element (RFC 9559, 5.1.8.1.2).
  private static let simpleTag: [UInt8] = [0x67, 0xC8]
  /// The maximum size of a Tags element, in bytes.
  private static let largest = 64 << 20

  /// Returns the number of tags that libavformat reads when it opens the file: in the elements before the
  /// first cluster, and in those that a SeekHead refers to. 0 if `source` isn't a Matroska file.
  ///
  /// No sum of positions overflows: sizes have at most 56 bits, and nothing is read beyond the end.
  static func tagCount(in source: ByteSource) -> Int {
    guard let segment = segment(of: source) else { return 0 }
    var count = 0
    // The positions of elements after the first cluster, from the start of the segment's content.
    var later: [Int] = []
    var position = segment.content
    for _ in 0..<1000 {
      guard let element = element(of: source, at: position), element.id != MatroskaID.cluster else {
        break
      }
      if element.id == MatroskaID.tags { count += tags(of: element, in: source) }
      guard let size = element.size else { break }
      let next = element.content + size
      if element.id == MatroskaID.seekHead {
        later += positions(in: source.read(at: element.content, count: min(size, 4096)))
      }
      position = next
    }
    for offset in Set(later) where segment.content + offset >= position {
      if let element = element(of: source, at: segment.content + offset),
        element.id == MatroskaID.tags
      {
        count += tags(of: element, in: source)
      }
    }
    return count
  }

  /// Returns how many bytes a file lacks of what its segment says it has; 0 if it isn't a Matroska file.
  static func missingBytes(in source: ByteSource) -> Int {
    guard let segment = segment(of: source), let size = segment.size, let end = source.size else {
      return 0
    }
    return max(0, segment.content + size - end)
  }

  private static func segment(
    of source: ByteSource
  ) -> (id: UInt32, size: Int?, content: Int)? {
    guard let header = element(of: source, at: 0), header.id == MatroskaID.header,
      let size = header.size,
      let segment = element(of: source, at: header.content + size), segment.id == MatroskaID.segment
    else { return nil }
    return segment
  }

  /// Returns the header at `position`, with its positions counted from the start of the file.
  private static func element(
    of source: ByteSource, at position: Int
  ) -> (id: UInt32, size: Int?, content: Int)? {
    EBMLElement(source.read(at: position, count: EBMLElement.headerLimit), at: 0).map {
      ($0.id, $0.size, position + $0.content)
    }
  }

  /// Returns the values of all SeekPosition elements.
  private static func positions(in seekHead: [UInt8]) -> [Int] {
    var found: [Int] = []
    var position = 0
    while let element = EBMLElement(seekHead, at: position) {
      // A Seek element: continue with its content.
      position = element.content
      guard element.id == MatroskaID.seekPosition || element.id == 0x53AB else { continue }
      guard let size = element.size, size <= 8, position + size <= seekHead.count else { break }
      if element.id == MatroskaID.seekPosition {
        let value = seekHead[position..<position + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        found.append(Int(clamping: min(value, 1 << 56)))
      }
      position += size
    }
    return found
  }

  private static func tags(
    of element: (id: UInt32, size: Int?, content: Int), in source: ByteSource
  ) -> Int {
    let bytes = source.read(at: element.content, count: min(element.size ?? largest, largest))
    return bytes.withUnsafeBufferPointer { bytes in
      bytes.indices.dropLast().count { bytes[$0] == simpleTag[0] && bytes[$0 + 1] == simpleTag[1] }
    }
  }
}
