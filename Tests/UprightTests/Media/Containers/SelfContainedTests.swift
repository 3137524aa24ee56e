import Foundation
import Testing
import UprightOrientation
import UprightSignals
import UprightTestSupport

@testable import UprightMediaIO

/// HEVC that is copied to MP4 and QuickTime is `hvc1`: all parameter sets are in the sample entry (ISO/IEC 14496-15,
/// 8.4.1.1).
@Suite("Copied HEVC is hvc1")
struct SelfContainedTests {
  private static func clip(_ path: String, depth: Int, bFrames: Int, _ options: String) throws {
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=1 -c:v libx265 -pix_fmt yuv420p\(depth == 10 ? "10le" : "") "
        + "-x265-params keyint=4:min-keyint=4:bframes=\(bFrames):repeat-headers=1:log-level=none \(options)",
      [path])
  }

  /// The MD5 of the decoded frames.
  private static func digest(_ path: String) throws -> String {
    String(
      decoding: try FFmpegTool.run(
        ["-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "md5", "-"]),
      as: UTF8.self)
  }

  /// The kinds of the NAL units in the packets, which have lengths of four bytes.
  private static func unitTypes(_ path: String) throws -> Set<UInt8> {
    let demuxer = try Demuxer(url: path)
    var types: Set<UInt8> = []
    while let packet = try demuxer.read() {
      let bytes = packet.withBytes { Array($0) }
      var position = 0
      while position + 5 <= bytes.count {
        types.insert(bytes[position + 4] >> 1 & 0x3F)
        position += 4 + bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      }
    }
    return types
  }

  // 4 s for all.
  @Test(
    "From every container, with and without reordering, in 8 and 10 bits", .long,
    arguments: [
      ("in.ts", ""), ("in.mkv", ""), ("in.mp4", "-tag:v hev1"),
      ("in.mov", "-tag:v hev1 -movflags frag_keyframe+empty_moov"),
    ], [8, 10])
  func containers(_ input: (name: String, options: String), _ depth: Int) throws {
    let scratch = try Scratch()
    for (bFrames, output) in [(0, "out.mp4"), (3, "out.mov")] {
      let source = scratch.path("\(bFrames)\(input.name)")
      try Self.clip(source, depth: depth, bFrames: bFrames, input.options)
      let run = try Transcoded(source, to: scratch.path(output))
      #expect(run.result.output.copiedFrames == 10)
      let stream = try #require(try FFmpegTool.streams(run.path, "video").first)
      #expect(stream["codec_tag_string"].string == "hvc1", "\(source)")
      #expect(try Self.digest(run.path) == Self.digest(source), "\(source)")
      #expect(try Self.unitTypes(run.path).isDisjoint(with: [32, 33, 34]), "\(source)")
      let file = try #require(ByteSource(regularFile: run.path))
      let movie = try #require(MovieContent(in: file))
      let entry = try #require(MovieTrack.tracks(inMovie: movie.bytes).first?.entries.first)
      let box = try #require(entry.boxes.first { $0.type == "hvcC" })
      // 22 bytes, the number of arrays, then for each its completeness and kind, and its units.
      let configuration = Array(entry.bytes[box.payload])
      try #require(configuration.count > 23)
      #expect(configuration[22] >= 3 && configuration[23] == 0x80 | 32, "\(source)")
    }
  }

  @Test(
    "Parameter sets that change have a sample entry each",
    arguments: ["in.ts", "in.mkv", "in.mp4"], ["out.mp4", "out.mov"])
  func changing(_ input: String, _ output: String) throws {
    let scratch = try Scratch()
    let (one, two) = (scratch.path("one.hevc"), scratch.path("two.hevc"))
    try Self.clip(one, depth: 8, bFrames: 0, "")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=1 -c:v libx265 -pix_fmt yuv420p "
        + "-x265-params keyint=4:bframes=0:repeat-headers=1:log-level=none:no-sao=1:ref=1", [two])
    let bytes = try [one, two].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    try (bytes[0] + bytes[1] + bytes[0])
      .write(to: URL(fileURLWithPath: scratch.path("both.hevc")))
    let source = scratch.path(input)
    let tag = input == "in.mp4" ? "-tag:v hev1" : ""
    try FFmpegTool.run("-r 10 -i \(scratch.path("both.hevc")) -c copy \(tag)", [source])
    let run = try Transcoded(source, to: scratch.path(output))
    #expect(run.result.output.copiedFrames == 30)
    #expect(run.result.output.sizes == [PixelSize(64, 96)])
    #expect(try Self.digest(run.path) == Self.digest(source))
    #expect(try Self.unitTypes(run.path).isDisjoint(with: [32, 33, 34]))
    let file = try #require(ByteSource(regularFile: run.path))
    let movie = try #require(MovieContent(in: file))
    let entries = try #require(MovieTrack.tracks(inMovie: movie.bytes).first).entries
    #expect(entries.map(\.type) == ["hvc1", "hvc1"])
  }
}
