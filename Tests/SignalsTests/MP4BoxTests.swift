import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Boxes of MP4 files")
struct MP4BoxTests {
  private static let moov = Array("moov".utf8)

  @Test("Box headers in a file")
  func heads() {
    func head(_ bytes: [UInt8]) -> MP4Box? { MP4Box(header: bytes) }
    let moov = Self.moov
    #expect(head([0, 0, 1, 0] + moov)?.size == 256)
    #expect(head([0, 0, 1, 0] + moov)?.type == "moov")
    #expect(head([0, 0, 0, 1] + moov + [0, 0, 0, 1, 0, 0, 0, 0])?.size == 1 << 32)
    #expect(head([0, 0, 0, 1] + moov + [0, 0, 0, 1, 0, 0, 0, 0])?.payload.lowerBound == 16)
    let open = head([0, 0, 0, 0] + moov)
    #expect(open != nil && open?.size == nil)
    #expect(head([0, 0, 0, 7] + moov) == nil)
    #expect(head([0, 0, 0, 1] + moov + [0, 0, 0, 0, 0, 0, 0, 15]) == nil)
    #expect(head([0, 0, 0, 1] + moov + [UInt8](repeating: 0xFF, count: 8)) == nil)
    #expect(head([0, 0, 1] + moov) == nil && head([]) == nil)
  }

  @Test("The position of a box in a file, up to the end of the address space")
  func positions() throws {
    let bytes = [0, 0, 0, 20] + Self.moov
    let box = try #require(MP4Box(header: bytes, at: 100))
    #expect(box.whole == 100..<120 && box.payload == 108..<120 && box.isComplete)
    let open = try #require(MP4Box(header: [0, 0, 0, 0] + Self.moov, at: 100))
    #expect(open.whole == 100..<1 << 62 && !open.isComplete)
    let last = try #require(MP4Box(header: bytes, at: 1 << 62 - 10))
    #expect(last.size == 20 && last.whole.count == 10 && !last.isComplete)
    for position in [1 << 62, 1 << 62 - 7, .max] {
      #expect(MP4Box(header: bytes, at: position) == nil)
    }
  }

  @Test("Boxes in memory: 32-bit and 64-bit sizes, an extended type, none, too large")
  func siblings() {
    let extended = MovieWriter.box("uuid", [UInt8](repeating: 7, count: 16) + [1, 2])
    let wide = MovieWriter.be(1, 4) + Array("wide".utf8) + MovieWriter.be(19, 8) + [1, 2, 3]
    let first = MovieWriter.box("free", []) + extended + wide
    let open = MovieWriter.be(0, 4) + Array("mdat".utf8) + [1, 2, 3]
    let long = MovieWriter.be(1000, 4) + Array("mdat".utf8) + [1, 2, 3]
    let lasts: [([UInt8], Int?)] = [(open, nil), (long, 1000)]
    for (last, size) in lasts {
      let bytes = [9, 9] + first + last
      let boxes = Array(MP4Boxes(bytes, in: 2..<bytes.count))
      #expect(boxes.map(\.type) == ["free", "uuid", "wide", "mdat"])
      #expect(boxes.map(\.payload.count) == [0, 18, 3, 3])
      #expect(boxes.map(\.whole.count) == [8, 26, 19, 11])
      #expect(boxes.last?.size == size)
      #expect(MP4Boxes(bytes, in: 2..<bytes.count).complete == boxes.dropLast())
    }
    // A size below that of the header or above `Int.max`, or a truncated header: the boxes before it.
    for bad in [
      [0, 0, 0, 7] + Self.moov, [0, 0, 0, 1] + Self.moov, [0, 0, 0, 8, 1],
      [0, 0, 0, 1] + Self.moov + MovieWriter.be(15, 8),
      [0, 0, 0, 1] + Self.moov + MovieWriter.be(-1, 8),
    ] {
      #expect(Array(MP4Boxes(first + bad, in: 0..<first.count + bad.count)).count == 3, "\(bad)")
    }
    #expect(Array(MP4Boxes(first, in: 5..<1000)).count < 3)
    #expect(Array(MP4Boxes(first, in: 1000..<2000)).isEmpty)
  }

  @Test("Types that are not text are distinct, and have a description")
  func types() {
    let bytes: [UInt8] = [0, 0, 0, 8, 0xFF, 0, 0, 0, 0, 0, 0, 8, 0xFE, 0, 0, 0]
    let types = MP4Boxes(bytes, in: bytes.indices).map(\.type)
    #expect(types.map(\.number) == [0xFF00_0000, 0xFE00_0000] && types[0] != types[1])
    #expect(("moov" as MP4BoxType).description == "moov")
  }

  @Test("A path leads through the first box of each type, however deep the boxes are nested")
  func paths() {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] { MovieWriter.box(type, content) }
    var bytes = box("free", [1]) + box("moov", box("trak", [1, 2]) + box("trak", [3]))
    #expect(
      MP4Boxes.payload(at: "moov", "trak", of: bytes, in: bytes.indices).map { Array(bytes[$0]) }
        == [1, 2])
    #expect(MP4Boxes.payload(at: "moov", "free", of: bytes, in: bytes.indices) == nil)
    #expect(MP4Boxes.payload(at: "trak", of: bytes, in: bytes.indices) == nil)
    for _ in 0..<1000 { bytes = box("moov", bytes) }
    #expect(MP4Boxes.payload(at: "moov", "moov", of: bytes, in: bytes.indices)?.lowerBound == 16)
  }

  @Test("Written boxes are read back, and their bytes are those of another writer")
  func written() throws {
    let content = [UInt8](1...9)
    let bytes = MP4Box.bytes("free", content)
    #expect(bytes == MovieWriter.box("free", content))
    #expect(MP4Box.header("free", size: bytes.count) + content == bytes)
    let entries = MovieWriter.be(5, 4) + MovieWriter.be(6, 4)
    let table = MP4Box.table("stco", count: 2, entries)
    #expect(table == MovieWriter.box("stco", MovieWriter.be(2, 8) + entries))
    let box = try #require(MP4Boxes(table, in: table.indices).complete.first)
    #expect(box.type == "stco" && box.whole == table.indices)
    #expect(table.numbers(in: box.entries, width: 4) == [5, 6])
    // Without its number of entries.
    let short = MP4Box.bytes("stco", [0, 0, 0, 0])
    #expect(MP4Boxes(short, in: short.indices).first { _ in true }?.entries.isEmpty == true)
  }

  @Test("Numbers: of every width, the last one incomplete, outside the bytes, above `Int.max`")
  func numbers() {
    let bytes: [UInt8] = [0, 0, 1, 2, 0xFF, 0xFF, 0xFF, 0xFE, 3]
    #expect(bytes.numbers(in: 0..<9, width: 4) == [258, 0xFFFF_FFFE])
    #expect(bytes.numbers(in: 2..<100, width: 1) == [1, 2, 255, 255, 255, 254, 3])
    #expect(bytes.numbers(in: 4..<7, width: 4) == [] && bytes.numbers(in: 50..<90, width: 4) == [])
    #expect([UInt8](repeating: 0xFF, count: 8).numbers(in: 0..<8, width: 8) == [.max])
    for number in [0, 1, 0x0102_0304_0506_0708, .max] {
      #expect([UInt8].big(number, bytes: 8).numbers(in: 0..<8, width: 8) == [number])
    }
    #expect([UInt8].big(-1, bytes: 2) == [255, 255] && [UInt8].big(0x1_0203, bytes: 2) == [2, 3])
  }
}
