import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightFiles

@Suite("Space reserved for the index before the media", .enabled(if: FFmpegTool.isHere))
struct IndexReservationTests {
  /// A file whose index of about 30 kB follows the media.
  private static func plain(_ scratch: Scratch) throws -> String {
    let path = scratch.path("plain.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=32x32:r=100:d=20 -f lavfi -i sine=d=20 -c:v libx264 -c:a aac", [path])
    return path
  }

  /// Writes the file at `plain` with `hole` unused bytes after `ftyp`.
  private static func clip(_ plain: String, _ scratch: Scratch, hole: Int) throws -> String {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
    let top = MP4Boxes(bytes, in: bytes.indices).complete
    try #require(top.last?.type == "moov" && top.first?.type == "ftyp")
    var moov = Array(bytes[top[top.count - 1].whole])
    try #require(moov.count > 20_000 && moov.moveChunks(by: hole))
    let media = bytes[top[0].whole.upperBound..<top[top.count - 1].whole.lowerBound]
    let path = scratch.path("hole.mp4")
    let whole = bytes[top[0].whole] + [UInt8](repeating: 0, count: hole) + media + moov
    try Data(whole).write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func packets(_ path: String, _ scratch: Scratch) throws -> String {
    let file = scratch.path("\(UUID().uuidString).md5")
    try FFmpegTool.run(["-i", path, "-map", "0", "-c", "copy", "-f", "framemd5", file])
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  private static func boxes(_ path: String) throws -> [String] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let top = MP4Boxes(bytes, in: bytes.indices).complete
    #expect(top.last?.whole.upperBound == bytes.count)
    return top.map(\.type.description)
  }

  @Test(
    "The index is placed before the media, whether it fits or the media has to be moved", .long,
    arguments: [(1, false), (8000, true)])
  func settles(samples: Int, fits: Bool) throws {
    let scratch = try Scratch()
    let room = try #require(IndexReservation(samples: samples))
    let plain = try Self.plain(scratch)
    let path = try Self.clip(plain, scratch, hole: room.size)
    try room.settle(fileAt: path, location: path)
    let expected =
      fits ? ["ftyp", "moov", "free", "free", "mdat"] : ["ftyp", "moov", "free", "mdat"]
    #expect(try Self.boxes(path) == expected)
    #expect(try Self.packets(path, scratch) == Self.packets(plain, scratch))
  }

  @Test("No byte is left over if the index is some bytes smaller than its space")
  func nearlyFits() throws {
    let scratch = try Scratch()
    let plain = try Self.plain(scratch)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: plain)))
    let index = try #require(MP4Boxes(bytes, in: bytes.indices).complete.last)
    for spare in [0, 1, 7, 8] {
      let room = IndexReservation(size: index.whole.count + spare)
      let path = try Self.clip(plain, scratch, hole: room.size)
      try room.settle(fileAt: path, location: path)
      let rest = spare == 0 ? [] : ["free"]
      #expect(try Self.boxes(path) == ["ftyp", "moov"] + rest + ["free", "mdat"])
      #expect(try Self.packets(path, scratch) == Self.packets(plain, scratch))
    }
  }

  @Test("No space is reserved without a number of samples")
  func unknown() {
    #expect(IndexReservation(samples: 0) == nil)
  }

  @Test("The index of a copied file comes first, followed by the rest of its reserved space")
  func copied() throws {
    let scratch = try Scratch()
    let source = try Self.plain(scratch)
    let output = scratch.path("turned.mp4")
    // With SEI messages, of which `up` needs none, the file is written anew.
    var options = TagSession.Options(orientation: .up)
    options.writesMessages = true
    _ = try TagSession(input: source, output: output, options: options).run()
    #expect(try Self.boxes(output).prefix(3) == ["ftyp", "moov", "free"])
    #expect(try Self.packets(output, scratch) == Self.packets(source, scratch))
  }
}
