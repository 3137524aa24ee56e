internal import UprightOrientation

/// An element of a Matroska file and its place (RFC 8794, 4 to 6).
struct MatroskaElement: Hashable {
  let id: UInt32
  /// The place of the element with its header.
  let whole: Range<Int>
  let content: Range<Int>

  /// Parses the element at `position` of `bytes`, which must be whole.
  init?(_ bytes: [UInt8], at position: Int, end: Int) {
    guard let element = EBMLElement(bytes, at: position), let size = element.size,
      element.content <= end, size <= end - element.content
    else { return nil }
    id = element.id
    content = element.content..<element.content + size
    whole = position..<content.upperBound
  }

  init(id: UInt32, whole: Range<Int>, content: Range<Int>) {
    (self.id, self.whole, self.content) = (id, whole, content)
  }

  /// Returns the elements in a range of `bytes`, up to the first that isn't whole.
  static func children(_ bytes: [UInt8], in range: Range<Int>) -> [MatroskaElement] {
    var found: [MatroskaElement] = []
    var position = range.lowerBound
    while position < range.upperBound,
      let element = MatroskaElement(bytes, at: position, end: range.upperBound)
    {
      found.append(element)
      position = element.whole.upperBound
    }
    return found
  }

  /// Returns an element, with a size of at least `sizeLength` bytes.
  static func bytes(_ id: UInt32, _ content: [UInt8], sizeLength: Int = 1) -> [UInt8] {
    identifier(id) + size(content.count, length: sizeLength) + content
  }

  static func identifier(_ id: UInt32) -> [UInt8] {
    [UInt8].big(Int(id), bytes: 4 - id.leadingZeroBitCount / 8)
  }

  /// Returns a size in the fewest bytes, but at least `length` of them.
  static func size(_ size: Int, length: Int = 1) -> [UInt8] {
    var length = length
    // All ones mean an unknown size.
    while length < 8, size >= 1 << (7 * length) - 1 { length += 1 }
    return [UInt8].big(size | 1 << (7 * length), bytes: length)
  }

  /// Returns a Void element of `count` bytes in all, 2 or more.
  static func void(_ count: Int) -> [UInt8] {
    let length = count - 2 < 127 ? 1 : 8
    return [0xEC] + size(count - 1 - length, length: length)
      + [UInt8](repeating: 0, count: count - 1 - length)
  }
}

/// The identifiers of the elements that are read (RFC 9559, 5.1).
package enum MatroskaID {
  package static let header: UInt32 = 0x1A45_DFA3
  package static let docType: UInt32 = 0x4282
  package static let segment: UInt32 = 0x1853_8067
  package static let seekHead: UInt32 = 0x114D_9B74
  package static let seek: UInt32 = 0x4DBB
  package static let seekPosition: UInt32 = 0x53AC
  package static let info: UInt32 = 0x1549_A966
  package static let timestampScale: UInt32 = 0x2A_D7B1
  package static let duration: UInt32 = 0x4489
  package static let tracks: UInt32 = 0x1654_AE6B
  package static let entry: UInt32 = 0xAE
  package static let trackType: UInt32 = 0x83
  package static let video: UInt32 = 0xE0
  package static let projection: UInt32 = 0x7670
  package static let projectionType: UInt32 = 0x7671
  package static let projectionPrivate: UInt32 = 0x7672
  package static let cluster: UInt32 = 0x1F43_B675
  package static let position: UInt32 = 0xA7
  package static let simpleBlock: UInt32 = 0xA3
  package static let blockGroup: UInt32 = 0xA0
  package static let block: UInt32 = 0xA1
  package static let cues: UInt32 = 0x1C53_BB6B
  package static let cuePoint: UInt32 = 0xBB
  package static let cuePositions: UInt32 = 0xB7
  package static let cueClusterPosition: UInt32 = 0xF1
  package static let cueCodecState: UInt32 = 0xEA
  package static let tags: UInt32 = 0x1254_C367
  package static let tag: UInt32 = 0x7373
  package static let simpleTag: UInt32 = 0x67C8
  package static let tagName: UInt32 = 0x45A3
  package static let attachments: UInt32 = 0x1941_A469
  package static let chapters: UInt32 = 0x1043_A770
  package static let void: UInt32 = 0xEC
  package static let checksum: UInt32 = 0xBF

  /// The elements in a segment.
  static let levelOne: Set<UInt32> = [
    seekHead, info, tracks, cluster, cues, tags, attachments, chapters,
  ]
}

/// The elements of a Matroska or WebM file at the first level of its segment.
struct MatroskaFile {
  let docType: String
  /// The header of the segment, and where its content begins and ends.
  let segment: MatroskaElement
  /// The size that the segment says.
  let segmentSize: Int?
  private(set) var elements: [MatroskaElement] = []
  /// What is missing at the end of the file; `nil` if it is whole.
  private(set) var damage: String?
  private let file: any ByteFile
  private static let most = 1 << 20

  /// - Throws: `badData` if there is no segment.
  init(_ file: any ByteFile) throws(UprightError) {
    self.file = file
    let damaged = UprightError(
      .badData, "the file has no segment", remedy: "the file is truncated or damaged")
    let head = try file.bytes(in: 0..<1 << 12)
    guard let header = MatroskaElement(head, at: 0, end: head.count), header.id == MatroskaID.header
    else { throw damaged }
    let type = MatroskaElement.children(head, in: header.content).first {
      $0.id == MatroskaID.docType
    }
    docType = String(decoding: type.map { head[$0.content] } ?? [], as: UTF8.self)
    let start = header.whole.upperBound
    let opening = try file.bytes(in: start..<start + EBMLElement.headerLimit)
    guard let segment = EBMLElement(opening, at: 0), segment.id == MatroskaID.segment else {
      throw damaged
    }
    let content = start + segment.content
    let end = segment.size.map { content + min($0, 1 << 60) }
    segmentSize = segment.size
    if let end, end > file.size { damage = "the file ends \(end - file.size) bytes too early" }
    let limit = min(end ?? file.size, file.size)
    self.segment = MatroskaElement(
      id: segment.id, whole: start..<limit, content: content..<max(content, limit))
    try readElements()
  }

  private mutating func readElements() throws(UprightError) {
    var position = segment.content.lowerBound
    while position < segment.content.upperBound, elements.count < Self.most {
      let head = try file.bytes(in: position..<position + EBMLElement.headerLimit)
      guard let element = EBMLElement(head, at: 0) else { break }
      let content = position + element.content
      guard content <= segment.content.upperBound else {
        damage = damage ?? "the file ends within an element"
        break
      }
      let end: Int
      if let size = element.size {
        end = content + min(size, 1 << 60)
      } else if element.id == MatroskaID.cluster {
        end = try endOfCluster(from: content)
      } else {
        break
      }
      guard end <= segment.content.upperBound else {
        damage = damage ?? "the file ends within an element"
        if element.id == MatroskaID.cluster {
          elements.append(
            MatroskaElement(
              id: element.id, whole: position..<segment.content.upperBound,
              content: content..<segment.content.upperBound))
        }
        break
      }
      elements.append(
        MatroskaElement(id: element.id, whole: position..<end, content: content..<end))
      position = end
    }
  }

  /// Returns where a cluster of unknown size ends: at the next element of the first level.
  private func endOfCluster(from content: Int) throws(UprightError) -> Int {
    var position = content
    while position < segment.content.upperBound {
      let head = try file.bytes(in: position..<position + EBMLElement.headerLimit)
      guard let element = EBMLElement(head, at: 0), !MatroskaID.levelOne.contains(element.id),
        let size = element.size
      else { break }
      position += element.content + min(size, 1 << 60)
    }
    return min(position, segment.content.upperBound)
  }

  /// Returns the first element of a kind.
  func first(_ id: UInt32) -> MatroskaElement? { elements.first { $0.id == id } }

  /// Calls `visit` with the place of each frame of a track: of the blocks that have one.
  func forEachFrame(
    of track: Int, _ visit: (Range<Int>) throws(UprightError) -> Void
  ) throws(UprightError) {
    for cluster in elements where cluster.id == MatroskaID.cluster {
      try forEachBlock(in: cluster.content) { (block) throws(UprightError) in
        let head = try file.bytes(
          in: block.lowerBound..<min(block.upperBound, block.lowerBound + 12))
        guard let first = head.first, first != 0 else { return }
        let length = first.leadingZeroBitCount + 1
        guard head.count > length + 2 else { return }
        let number = head[..<length].reduce(0) { $0 << 8 | Int($1) } & (1 << (7 * length) - 1)
        // The track, the time and the flags. Frames of video are not laced.
        guard number == track, head[length + 2] & 6 == 0 else { return }
        try visit(block.lowerBound + length + 3..<block.upperBound)
      }
    }
  }

  private func forEachBlock(
    in range: Range<Int>, _ visit: (Range<Int>) throws(UprightError) -> Void
  ) throws(UprightError) {
    var position = range.lowerBound
    while position < range.upperBound {
      let head = try file.bytes(in: position..<position + EBMLElement.headerLimit)
      guard let element = EBMLElement(head, at: 0), let size = element.size,
        position + element.content <= range.upperBound,
        size <= range.upperBound - position - element.content
      else { return }
      let content = position + element.content..<position + element.content + size
      switch element.id {
      case MatroskaID.simpleBlock, MatroskaID.block: try visit(content)
      // The blocks of a group are found in it.
      case MatroskaID.blockGroup:
        position = content.lowerBound
        continue
      default: break
      }
      position = content.upperBound
    }
  }
}
