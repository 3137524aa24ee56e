import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// `--chunks`: encoding a file in parallel chunks gives the same result as encoding it in one piece.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .tags(.lengthy))
struct ChunkTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var output = "out.mp4"
    var events = #"{"at": 0, "device": "portrait"}"#
    var document: String?
    var encoder = "-c:v libx264 -preset veryfast -bf 3 -g 24 -keyint_min 24"
    var filter = "null"
    var chunks = ChunkRule.count(2)
    var configure: @Sendable (inout TranscodeOptions) -> Void = { _ in }
  }

  private static let turns = """
    {"at": 0, "device": "portrait"}
    {"at": 5.9, "device": "landscapeLeft"}
    {"at": 9.4, "device": "portrait"}
    """

  /// Sixteen seconds at 24 frames per second, with a tone.
  private static func source(_ test: Case, _ scratch: Scratch) throws -> String {
    let path = scratch.path("source.mp4")
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=160x96:r=24:d=16,\(test.filter) -f lavfi -i sine=d=16:r=48000 \
      -pix_fmt yuv420p \(test.encoder) -fps_mode passthrough -c:a aac
      """, [path])
    return path
  }

  private static func transcode(
    _ source: String, to path: String, _ test: Case, chunks: ChunkRule
  ) throws -> Transcoded {
    try Transcoded(source, to: path, document: test.document, events: test.events) {
      $0.sensor()
      $0.size = .source
      $0.reencode = .always
      $0.chunks = chunks
      test.configure(&$0)
    }
  }

  static let cases = [
    Case(testDescription: "MP4"),
    Case(
      testDescription: "HLS", output: "out.m3u8", events: turns,
      configure: { $0.segmentDuration = 3 }),
    Case(
      testDescription: "a transition that is held across an entry point", events: turns,
      document: #"{"transition": {"style": "hold", "duration": 1.5}}"#,
      configure: { $0.canvas = .follow }),
    Case(
      testDescription: "a variable frame rate",
      encoder:
        "-c:v libx264 -bf 3 -g 24 -keyint_min 24 -enc_time_base 1:24000 -video_track_timescale 24000",
      filter: "settb=1/24000,setpts=PTS+mod(N*373\\,700)"),
    Case(testDescription: "three at a time", chunks: .count(3)),
    Case(testDescription: "QuickTime, HEVC", output: "out.mov", configure: { $0.codec = .hevc }),
    Case(testDescription: "Matroska", output: "out.mkv", configure: { $0.canvas = .portrait }),
    Case(
      testDescription: "WebM", output: "out.webm", configure: { $0.canvas = .portrait }),
    Case(testDescription: "MPEG-TS", output: "out.ts", events: turns),
    // One size only: ffprobe 5.1 crashes on an FLV whose frames change their size.
    Case(
      testDescription: "FLV", output: "out.flv", events: turns,
      configure: { $0.canvas = .portrait }),
    Case(
      testDescription: "HLS of MPEG-TS", output: "out.m3u8", events: turns,
      configure: {
        $0.segmentDuration = 3
        $0.segments = .ts
      }),
    Case(
      testDescription: "following", events: turns, configure: { $0.canvas = .follow }),
    Case(
      testDescription: "a transition that crossfades", events: turns,
      document: #"{"transition": {"style": "crossfade", "duration": 1.5}}"#),
  ]

  @Test(
    "The same frames at the same times with the same quality, also at chunk boundaries", .long,
    arguments: Loop.cases(cases, test: 4))
  func seamless(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    try FileManager.default.createDirectory(
      atPath: scratch.path("one"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(
      atPath: scratch.path("many"), withIntermediateDirectories: true)
    let one = try Self.transcode(
      source, to: scratch.path("one/\(test.output)"), test, chunks: .count(1))
    let many = try Self.transcode(
      source, to: scratch.path("many/\(test.output)"), test, chunks: test.chunks)
    #expect(many.report["warnings"].array.count == one.report["warnings"].array.count)
    #expect(many.report["output"]["encoded_frames"].int == 384)
    // The same formats with the same sizes, in the same order.
    #expect(many.result.output.sizes == one.result.output.sizes)
    #expect(many.report["formats"] == one.report["formats"])
    try FFmpegTool.run(
      ["-xerror", "-err_detect", "explode", "-i", many.path, "-f", "null", "-"])
    try Self.checkTimes(one.path, many.path)
    if test.output.hasSuffix("m3u8") { try Self.checkSegments(one.path, many.path) }
    try Self.checkFrames(source, one.path, many.path, test, scratch)
  }

  private static func checkTimes(_ one: String, _ many: String) throws {
    let (old, new) = (try FFmpegTool.frames(one), try FFmpegTool.frames(many))
    try #require(old.count == 384 && new.count == 384)
    for (index, (before, after)) in zip(old, new).enumerated() {
      let late = abs((before.time ?? -1) - (after.time ?? -2))
      if late > 0.0011 || before.width != after.width {
        Issue.record("frame \(index) differs: \(late) s, \(after.width) wide")
      }
    }
    let packets = try FFmpegTool.packets(many, "v:0")
    let dts = packets.compactMap(\.dts)
    #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(packets.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
    // There are more keyframes than before, which shows that chunks were used.
    let keys = try FFmpegTool.packets(one, "v:0").count { $0.isKey }
    #expect(packets.count { $0.isKey } > keys)
    let audio = (
      try FFmpegTool.packets(one, "a:0", hashes: true),
      try FFmpegTool.packets(many, "a:0", hashes: true)
    )
    #expect(audio.0.map(\.hash) == audio.1.map(\.hash))
  }

  /// Segments begin at the same times, although there are more entry points.
  private static func checkSegments(_ one: String, _ many: String) throws {
    func lines(_ path: String) throws -> [String] {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    #expect(try lines(one) == lines(many))
    #expect(try Playlist(path: one).turns.count == 2)
  }

  private static func checkFrames(
    _ source: String, _ one: String, _ many: String, _ test: Case, _ scratch: Scratch
  ) throws {
    // The reference is the unencoded output. A canvas that follows has none: there the two encodings are
    // compared with each other, with all frames scaled to one size.
    func even(_ path: String, _ name: String) throws -> String {
      let result = scratch.path(name)
      try FFmpegTool.run(
        "-i \(path) -map 0:v -vf scale=96:96:flags=neighbor -fps_mode passthrough -c:v rawvideo",
        [result])
      return result
    }
    func ratios(_ one: String, _ many: String) throws -> [FFmpegTool.Ratio] {
      try FFmpegTool.ratios(
        inputs: ["-i", try even(one, "one.nut"), "-i", try even(many, "many.nut")],
        graph: "[0:v]null[a];[1:v]null[b]")
    }
    let between = try ratios(one, many)
    try #require(between.count == 384)
    #expect(between.lowest.luma > 25, "\(test.testDescription): \(between.worst)")
    var truth = test
    truth.configure = {
      test.configure(&$0)
      $0.codec = nil
    }
    guard !["ts", "flv", "m3u8"].contains(where: test.output.hasSuffix),
      !test.testDescription.contains("following"), !test.testDescription.contains("held")
    else { return }
    let plain = try transcode(source, to: scratch.path("truth.y4m"), truth, chunks: .count(1))
    func mean(_ path: String) throws -> Double {
      let all = try FFmpegTool.ratios(
        inputs: ["-i", path, "-i", plain.path], graph: "[0:v]null[a];[1:v]null[b]")
      return all.map(\.luma).reduce(0, +) / Double(all.count)
    }
    let (whole, chunked) = (try mean(one), try mean(many))
    figure("\(test.testDescription): \(chunked) dB in chunks, \(whole) dB in one piece")
    #expect(abs(chunked - whole) < 0.3)
  }

  @Test("Without usable entry points, one piece is encoded, with a warning", .long)
  func refused() throws {
    let scratch = try Scratch()
    var test = Case(testDescription: "one GOP", encoder: "-c:v libx264 -g 1000")
    let source = try Self.source(test, scratch)
    let cases: [(String, @Sendable (inout TranscodeOptions) -> Void)] = [
      ("entry", { _ in }), ("--latency", { $0.isLive = true }), ("--start", { $0.start = 1 }),
      ("bitrate", { $0.rate = .bitrate(100_000) }),
    ]
    for (index, (word, configure)) in cases.enumerated() {
      test.configure = configure
      let run = try Self.transcode(
        source, to: scratch.path("\(index).mp4"), test, chunks: .count(2))
      let warnings = run.report["warnings"].array.compactMap(\.string)
      #expect(warnings.contains { $0.contains("one piece") && $0.contains(word) }, "\(warnings)")
      // There is no warning if no number of chunks was requested.
      let quiet = try Self.transcode(source, to: scratch.path("\(index)a.mp4"), test, chunks: .auto)
      #expect(quiet.report["warnings"].array.isEmpty)
    }
  }
}
