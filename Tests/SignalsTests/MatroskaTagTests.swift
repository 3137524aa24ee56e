import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightSignals

@Suite("The orientation of a Matroska file, changed in its bytes")
struct MatroskaTagTests {
  private static func element(_ id: UInt32, _ content: [UInt8], length: Int = 1) -> [UInt8] {
    MatroskaElement.bytes(id, content, sizeLength: length)
  }

  private static func number(_ id: UInt32, _ value: Int, bytes: Int = 1) -> [UInt8] {
    element(id, .big(value, bytes: bytes))
  }

  /// A file with two clusters, and SeekHead and Cues that refer to them.
  struct Layout: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The size of a Void element after Tracks; 0 for none.
    var void = 0
    var voidComesFirst = false
    var hasChecksums = false
    var cuesComeFirst = false
    var hasPositions = false
    var hasSize = true
    /// The bytes of each place in SeekHead and Cues.
    var width = 2
    var projection: [UInt8] = []
    var rotateTag = false
  }

  static let layouts = [
    Layout(testDescription: "no room, and places that need another byte", width: 1),
    Layout(testDescription: "room", void: 100),
    Layout(testDescription: "room before", void: 200, voidComesFirst: true),
    Layout(testDescription: "exactly the room", void: 21),
    Layout(testDescription: "too little room", void: 10),
    Layout(testDescription: "checksums", hasChecksums: true),
    Layout(testDescription: "checksums and room", void: 150, hasChecksums: true),
    Layout(testDescription: "Cues first", cuesComeFirst: true),
    Layout(testDescription: "positions", hasPositions: true, width: 4),
    Layout(testDescription: "positions and checksums", hasChecksums: true, hasPositions: true),
    Layout(testDescription: "no size", hasSize: false),
    Layout(
      testDescription: "a projection",
      projection: element(
        0x7670, number(0x7671, 0) + element(0x7673, [0, 0, 0, 0]) + element(0x7675, [0, 0, 0, 0]))),
    Layout(
      testDescription: "a roll alone", hasChecksums: true,
      projection: element(0x7670, element(0x7675, [UInt8](repeating: 0, count: 8)))),
    Layout(testDescription: "a rotate tag", hasChecksums: true, rotateTag: true),
  ]

  private static func master(_ id: UInt32, _ content: [UInt8], _ layout: Layout) -> [UInt8] {
    guard layout.hasChecksums else { return element(id, content, length: 4) }
    let sum = [UInt8].big(Int(CRC32.of(content)), bytes: 4).reversed()
    return element(id, element(MatroskaID.checksum, Array(sum)) + content, length: 4)
  }

  private static func write(_ layout: Layout) -> [UInt8] {
    let video =
      number(0xB0, 64) + number(0xBA, 48) + layout.projection
    let entry = element(
      MatroskaID.entry,
      number(0xD7, 1) + number(0x83, 1) + element(0x86, Array("V_VP9".utf8)) + element(0xE0, video))
    let tracks = master(MatroskaID.tracks, entry, layout)
    let info = master(
      MatroskaID.info, number(MatroskaID.timestampScale, 1_000_000, bytes: 3), layout)
    let void = layout.void > 0 ? MatroskaElement.void(layout.void) : []
    let name = element(MatroskaID.tagName, Array("ROTATE".utf8)) + element(0x4487, Array("90".utf8))
    let tags =
      layout.rotateTag
      ? master(
        MatroskaID.tags, element(MatroskaID.tag, element(MatroskaID.simpleTag, name)), layout) : []
    func cluster(_ position: Int, _ index: Int) -> [UInt8] {
      let place = layout.hasPositions ? number(MatroskaID.position, position, bytes: 2) : []
      let block = element(
        MatroskaID.simpleBlock, [0x81, 0, 0, 0x80] + [UInt8](repeating: UInt8(index), count: 60))
      return master(MatroskaID.cluster, number(0xE7, index) + place + block, layout)
    }
    func seekHead(_ places: [(UInt32, Int)]) -> [UInt8] {
      master(
        MatroskaID.seekHead,
        places.flatMap {
          element(
            MatroskaID.seek,
            element(0x53AB, MatroskaElement.identifier($0.0))
              + number(MatroskaID.seekPosition, $0.1, bytes: layout.width))
        }, layout)
    }
    func cues(_ places: [Int]) -> [UInt8] {
      master(
        MatroskaID.cues,
        places.flatMap { place in
          element(
            MatroskaID.cuePoint,
            number(0xB3, 0)
              + element(
                MatroskaID.cuePositions,
                number(0xF7, 1) + number(MatroskaID.cueClusterPosition, place, bytes: layout.width))
          )
        }, layout)
    }
    let ids = [MatroskaID.info, MatroskaID.tracks, MatroskaID.cues]
    let headSize = seekHead(ids.map { ($0, 0) }).count
    let cuesSize = cues([0, 0]).count
    var body: [UInt8] = []
    func at(_ part: [UInt8]) -> Int {
      defer { body += part }
      return headSize + body.count
    }
    if layout.voidComesFirst { _ = at(void) }
    let (infoAt, tracksAt) = (at(info), at(tracks))
    if !layout.voidComesFirst { _ = at(void) }
    _ = at(tags)
    let clusterSize = cluster(0, 0).count
    let base = headSize + body.count
    let first = base + (layout.cuesComeFirst ? cuesSize : 0)
    let clusters = [first, first + clusterSize]
    let cuesAt = layout.cuesComeFirst ? base : first + 2 * clusterSize
    let index = cues(clusters)
    if layout.cuesComeFirst { body += index }
    body += cluster(clusters[0], 1) + cluster(clusters[1], 2)
    if !layout.cuesComeFirst { body += index }
    let segment = seekHead(Array(zip(ids, [infoAt, tracksAt, cuesAt]))) + body
    let size =
      layout.hasSize
      ? MatroskaElement.size(segment.count, length: 8) : [0x01] + [UInt8](repeating: 0xFF, count: 7)
    return element(MatroskaID.header, element(MatroskaID.docType, Array("matroska".utf8)))
      + MatroskaElement.identifier(MatroskaID.segment) + size + segment
  }

  /// Reads a file and checks each place, size and checksum in it. Returns the orientation.
  private static func check(_ file: [UInt8], _ layout: Layout) throws -> ImageOrientation? {
    let index = try MatroskaFile(file)
    #expect(index.damage == nil)
    #expect(index.elements.last?.whole.upperBound == file.count)
    if layout.hasSize {
      #expect(index.segmentSize == file.count - index.segment.content.lowerBound)
    }
    let start = index.segment.content.lowerBound
    let starts = Dictionary(grouping: index.elements, by: \.id)
      .mapValues { $0.map { $0.whole.lowerBound - start } }
    func value(_ element: MatroskaElement) -> Int {
      file[element.content].reduce(0) { $0 << 8 | Int($1) }
    }
    for element in index.elements {
      let children = MatroskaElement.children(file, in: element.content)
      if let first = children.first, first.id == MatroskaID.checksum {
        let sum = [UInt8].big(
          Int(CRC32.of(file[first.whole.upperBound..<element.content.upperBound])), bytes: 4)
        #expect(Array(file[first.content]) == sum.reversed(), "checksum of \(element.id)")
      }
      switch element.id {
      case MatroskaID.seekHead:
        for seek in children where seek.id == MatroskaID.seek {
          let parts = MatroskaElement.children(file, in: seek.content)
          let id = UInt32(value(parts[0]))
          #expect(starts[id]?.contains(value(parts[1])) == true, "SeekHead of \(id)")
        }
      case MatroskaID.cues:
        var places: [Int] = []
        for point in children where point.id == MatroskaID.cuePoint {
          let parts = MatroskaElement.children(file, in: point.content)
          places.append(value(MatroskaElement.children(file, in: parts[1].content)[1]))
        }
        #expect(places == starts[MatroskaID.cluster])
      case MatroskaID.cluster:
        for child in children where child.id == MatroskaID.position {
          #expect(value(child) == element.whole.lowerBound - start)
        }
      default: continue
      }
    }
    let tracks = try #require(index.first(MatroskaID.tracks))
    let entry = try #require(
      MatroskaElement.children(file, in: tracks.content).first { $0.id == MatroskaID.entry })
    return TaggedVideo(file, entry)?.orientation(file)
  }

  @Test("Each orientation in each layout: all places and checksums are right", arguments: layouts)
  func layout(_ layout: Layout) throws {
    let file = Self.write(layout)
    #expect(try Self.check(file, layout) == .up)
    for orientation in ImageOrientation.allCases {
      let patch = try MatroskaTag.patch(file, orientation, isForced: false)
      let result = try StillTagTests.apply(patch.edits, to: file)
      #expect(try Self.check(result, layout) == orientation, "\(orientation)")
      #expect(patch.frames == 2 && patch.size == PixelSize(64, 48))
      #expect(result.firstRange(of: Array("ROTATE".utf8)) == nil)
      if layout.void >= 100 { #expect(patch.isInPlace && result.count == file.count) }
      // Another orientation is then in place.
      let again = try MatroskaTag.patch(result, .leftMirrored, isForced: false)
      if orientation != .up, layout.testDescription != "a roll alone" {
        #expect(again.isInPlace, "\(orientation)")
      }
      #expect(try MatroskaTag.patch(result, orientation, isForced: false).edits.isEmpty)
    }
  }

  @Test("Any damage: an error or a result, never a crash", arguments: 0..<8)
  func hostile(_ part: Int) throws {
    var random = SeededGenerator()
    let files = Self.layouts.map { Self.write($0) }
    for _ in 0..<400 {
      var file = files.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        file[Int.random(in: file.indices, using: &random)] =
          [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
          .randomElement(using: &random) ?? 0
      }
      if Bool.random(using: &random) {
        file.removeLast(Int.random(in: 0..<file.count, using: &random))
      }
      guard let patch = try? MatroskaTag.patch(file, .right, isForced: false) else { continue }
      _ = try StillTagTests.apply(patch.edits, to: file)
    }
  }
}
