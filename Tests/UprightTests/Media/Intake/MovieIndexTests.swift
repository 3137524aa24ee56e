import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

/// Values in a movie's index that files of this package don't have.
@Suite struct MovieIndexTests {
  private static func number(_ values: Int..., bytes: Int = 4) -> [UInt8] {
    values.flatMap { [UInt8].big($0, bytes: bytes) }
  }

  /// Returns a sample table with one chunk at `offset`.
  private static func table(size: Int, count: Int, offset: Int) -> [UInt8] {
    let none = number(0)
    return MP4Box.bytes(
      "stbl",
      MP4Box.bytes("stsd", none + number(1) + MP4Box.bytes("avc1", []))
        + MP4Box.bytes("stsc", none + number(1, 1, count, 1))
        + MP4Box.bytes("stsz", none + number(size, count))
        + MP4Box.bytes("co64", none + number(1) + number(offset, bytes: 8)))
  }

  private static func tables(_ table: [UInt8]) throws -> SampleTables {
    let descriptions = SampleDescriptions(
      entries: [[], []], runs: [.init(firstSample: 1, description: 2)], location: "index")
    return try SampleTables(
      table, MP4Boxes(table, in: table.indices).complete[0].payload, descriptions)
  }

  @Test("Samples of one size, split where a description begins")
  func oneSize() throws {
    let bytes = try Self.tables(Self.table(size: 5, count: 3, offset: 100)).bytes
    let offsets = try #require(MP4Boxes(bytes, in: bytes.indices).complete.last)
    #expect(
      Array(bytes[offsets.payload]) == Self.number(0, 2) + Self.number(100, 105, bytes: 8))
  }

  @Test("2^32 - 1 samples, or a chunk at the end of the address space")
  func tooMany() {
    #expect(throws: UprightError.self) {
      try Self.tables(Self.table(size: 5, count: 0xFFFF_FFFF, offset: 100))
    }
    #expect(throws: UprightError.self) {
      try Self.tables(Self.table(size: 5, count: 3, offset: .max))
    }
  }

  @Test("Chunks that can't be moved are reported")
  func farChunks() {
    var index = Self.table(size: 5, count: 3, offset: .max - 9)
    for type in ["minf", "mdia", "trak", "moov"] as [MP4BoxType] {
      index = MP4Box.bytes(type, index)
    }
    var movable = index
    let (fits, overflows) = (movable.moveChunks(by: 9), !index.moveChunks(by: 10))
    #expect(fits && overflows)
  }

  /// Returns an index with one track, whose sample table contains `tables`.
  private static func index(_ tables: [UInt8]) -> [UInt8] {
    let types: [MP4BoxType] = ["stbl", "minf", "mdia", "trak", "moov"]
    return types.reduce(tables) { MP4Box.bytes($1, $0) }
  }

  @Test("An offset that no longer fits is reported, below 0 and above 2^32 - 1")
  func moved() {
    func index(_ offset: Int) -> [UInt8] {
      Self.index(MP4Box.table("stco", count: 1, Self.number(offset)))
    }
    var (low, high) = (index(7), index(0xFFFF_FFF0))
    let (isLowMoved, isHighMoved) = (low.moveChunks(by: -7), high.moveChunks(by: 15))
    #expect(isLowMoved && low == index(0) && isHighMoved && high == index(0xFFFF_FFFF))
    let (isBelow, isAbove) = (!low.moveChunks(by: -1), !high.moveChunks(by: 1))
    #expect(isBelow && isAbove)
  }

  @Test("Neither an incomplete table nor an incomplete entry is moved")
  func incomplete() {
    let cut = Self.number(21) + Array("stco".utf8) + Self.number(0, 1, 100)
    var index = Self.index(MP4Box.bytes("stco", Self.number(0, 2, 100) + [1, 2, 3]) + cut)
    let isMoved = index.moveChunks(by: 1)
    #expect(isMoved)
    #expect(index == Self.index(MP4Box.bytes("stco", Self.number(0, 2, 101) + [1, 2, 3]) + cut))
  }

  @Test("A truncated table, and one with a wrong byte: no trap")
  func damaged() {
    let table = Self.table(size: 0, count: 2, offset: 100).dropFirst(8)
    for count in 0..<table.count {
      let content = Array(table.prefix(count))
      var index = Self.index(content)
      _ = index.moveChunks(by: 1)
      // All tables are needed, and the last one is incomplete.
      #expect(throws: UprightError.self) { try Self.tables(MP4Box.bytes("stbl", content)) }
    }
    for place in table.indices {
      for byte: UInt8 in [0, 1, 7, 0x7F, 0x80, 0xFF] {
        var wrong = table
        wrong[place] = byte
        var index = Self.index(Array(wrong))
        let count = index.count
        _ = index.moveChunks(by: 1)
        #expect(index.count == count)
        _ = try? Self.tables(MP4Box.bytes("stbl", Array(wrong)))
      }
    }
  }

  @Test("Boxes of a file that is patched: a 64-bit size, and none that is invalid or missing")
  func patched() throws {
    let scratch = try Scratch()
    let path = scratch.path("x.mp4")
    func box(_ bytes: [UInt8], at place: Int = 0) throws -> MP4Box? {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return try FilePatcher(path: path, location: path).box(at: place)
    }
    let type = Array("moov".utf8)
    let wide = try box(
      [9] + Self.number(1) + type + Self.number(20, bytes: 8) + [1, 2, 3, 4], at: 1)
    #expect(wide?.whole == 1..<21 && wide?.payload == 17..<21 && wide?.type == "moov")
    for size in [0, 1, 7] { #expect(try box(Self.number(size) + type) == nil) }
    for size in [-1, .max, 1 << 62 + 1, 15] {
      #expect(try box(Self.number(1) + type + Self.number(size, bytes: 8)) == nil)
    }
    // The next box would begin far after the end of the file.
    let far = try box(Self.number(1) + Array("free".utf8) + Self.number(1 << 62, bytes: 8))
    #expect(far?.whole == 0..<1 << 62)
    #expect(try FilePatcher(path: path, location: path).indexRange() == nil)
  }

  @Test("A file without its whole index: it ends before, has no valid box there, or never had one")
  func missing() throws {
    let scratch = try Scratch()
    let path = scratch.path("x.mp4")
    func isMissing(_ bytes: [UInt8]) throws -> Bool {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      return MovieIndex.isMissing(in: try #require(ByteSource(regularFile: path)))
    }
    let type = MP4Box.bytes("ftyp", [1, 2, 3, 4])
    let wide = Self.number(1) + Array("moov".utf8)
    for index in [MP4Box.bytes("moov", [1]), Self.number(0) + Array("moov".utf8) + [1]] {
      #expect(try !isMissing(type + MP4Box.bytes("mdat", [1]) + index), "\(index)")
    }
    for rest in [
      [], MP4Box.bytes("mdat", [1]), MP4Box.bytes("moov", [1, 2]).dropLast(),
      Self.number(0) + Array("mdat".utf8), Self.number(7) + Array("moov".utf8),
      wide + Self.number(1 << 62, bytes: 8), wide + Self.number(.max, bytes: 8),
      wide + Self.number(-1, bytes: 8),
    ] as [[UInt8]] {
      #expect(try isMissing(type + rest), "\(rest)")
    }
    for other in [[], Array("Dear diary".utf8), Self.number(7) + Array("moov".utf8)] as [[UInt8]] {
      #expect(try !isMissing(other), "\(other)")
    }
  }
}
