import Orientation
import Testing

@testable import UprightContainers
@testable import UprightMediaIO

/// Values in a movie's index that files of this package don't have.
@Suite struct MovieIndexTests {
  private static func number(_ values: Int..., bytes: Int = 4) -> [UInt8] {
    values.flatMap { [UInt8].big($0, bytes: bytes) }
  }

  /// Returns a sample table with one chunk at `offset`.
  private static func table(size: Int, count: Int, offset: Int) -> [UInt8] {
    let none = number(0)
    return MovieBox.bytes(
      "stbl",
      MovieBox.bytes("stsd", none + number(1) + MovieBox.bytes("avc1", []))
        + MovieBox.bytes("stsc", none + number(1, 1, count, 1))
        + MovieBox.bytes("stsz", none + number(size, count))
        + MovieBox.bytes("co64", none + number(1) + number(offset, bytes: 8)))
  }

  private static func tables(_ table: [UInt8]) throws -> SampleTables {
    let descriptions = SampleDescriptions(
      entries: [[], []], runs: [.init(firstSample: 1, description: 2)], location: "index")
    return try SampleTables(table, MovieBox.all(in: table, table.indices)[0].payload, descriptions)
  }

  @Test("Samples of one size, split where a description begins")
  func oneSize() throws {
    let bytes = try Self.tables(Self.table(size: 5, count: 3, offset: 100)).bytes
    let offsets = try #require(MovieBox.all(in: bytes, bytes.indices).last)
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
    for type in ["minf", "mdia", "trak", "moov"] { index = MovieBox.bytes(type, index) }
    var movable = index
    let (fits, overflows) = (movable.moveChunks(by: 9), !index.moveChunks(by: 10))
    #expect(fits && overflows)
  }
}
