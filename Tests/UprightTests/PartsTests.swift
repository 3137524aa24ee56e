import Foundation
import MediaIO
import Orientation
import RotationPolicy
import Testing
import Upright
import UprightTestSupport

/// Some GOPs copied and the others encoded, in one track: `--reencode auto` on a clip that is turned for
/// a while.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PartsTests {
  /// A clip of six seconds with 24 pictures a second, an entry point each second, and a tone. The device
  /// lies as the camera does, but for the pictures from 2.3 s to 3.4 s.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var encoder = "-c:v libx264 -preset veryfast -bf 3 -g 24 -keyint_min 24"
    var source = "source.mp4"
    var output = "out.mp4"
    /// Before the encoder.
    var filter = "null"
    /// Pictures that are copied, counted as they are shown.
    var copied: [Range<Int>] = [0..<48, 96..<144]
    var follows = false
    var style: String?
    /// Whether packets keep their form in the output's container.
    var keepsForm = true
  }

  static let events = """
    {"at": 0, "device": "landscapeLeft"}
    {"at": 2.3, "device": "portrait"}
    {"at": 3.4, "device": "landscapeLeft"}
    """

  private static func source(_ test: Case, _ scratch: Scratch) throws -> String {
    let path = scratch.path(test.source)
    let sound = test.source.hasSuffix("webm") ? "libopus" : "aac"
    try FFmpegTool.run(
      """
      -f lavfi -i testsrc2=s=160x96:r=24:d=6,\(test.filter) -f lavfi -i sine=d=6:r=48000 \
      -pix_fmt yuv420p \(test.encoder) -fps_mode passthrough -c:a \(sound)
      """, [path])
    return path
  }

  private static func transcode(
    _ source: String, to path: String, _ test: Case,
    options configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Transcoded {
    let styled = test.style.map { #"{"transition": {"style": "\#($0)"}}"# }
    return try Transcoded(source, to: path, document: styled, events: events) {
      $0.sensor()
      $0.size = .source
      if test.follows { $0.canvas = .follow }
      if !test.follows { $0.canvas = .landscape }
      configure(&$0)
    }
  }

  static let cases = [
    Case(testDescription: "B-pictures"),
    Case(testDescription: "none", encoder: "-c:v libx264 -bf 0 -g 24 -keyint_min 24"),
    Case(
      testDescription: "a pyramid of many references",
      encoder:
        "-c:v libx264 -preset slow -bf 7 -refs 5 -g 24 -keyint_min 24 -x264-params b-pyramid=normal:b-adapt=0"
    ),
    Case(
      testDescription: "baseline, of an encoder without arithmetic coding",
      encoder: "-c:v libx264 -profile:v baseline -g 24 -keyint_min 24"),
    Case(
      testDescription: "a variable rate",
      encoder: "-c:v libx264 -bf 3 -g 24 -keyint_min 24 -enc_time_base 1:24000 -video_track_timescale 24000",
      filter: "settb=1/24000,setpts=PTS+mod(N*373\\,700)"),
    Case(testDescription: "QuickTime", output: "out.mov"),
    Case(testDescription: "Matroska", output: "out.mkv"),
    Case(
      testDescription: "out of Matroska, without decoding times", source: "source.mkv"),
    Case(testDescription: "MPEG-TS", output: "out.ts", keepsForm: false),
    Case(
      testDescription: "out of MPEG-TS", source: "source.ts", output: "out.mp4", keepsForm: false),
    Case(testDescription: "FLV", output: "out.flv"),
    Case(testDescription: "following", follows: true),
    Case(testDescription: "following, MPEG-TS", output: "out.ts", follows: true, keepsForm: false),
    Case(testDescription: "following, FLV", output: "out.flv", follows: true),
    // The app begins upright and turns with the first event: that turn is drawn, too.
    Case(testDescription: "held", copied: [24..<48, 96..<144], style: "hold"),
    Case(testDescription: "spinning", copied: [24..<48, 96..<144], style: "spin"),
    Case(testDescription: "fading", copied: [24..<48, 96..<144], style: "crossfade"),
    Case(
      testDescription: "HEVC",
      encoder: "-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=24:min-keyint=24:open-gop=0:bframes=2"
    ),
    Case(
      testDescription: "VP9", encoder: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 24",
      source: "source.webm", output: "out.webm"),
    Case(
      testDescription: "AV1", encoder: "-c:v libsvtav1 -preset 12 -g 24", source: "source.mp4"),
  ]

  @Test("GOPs that fit are copied, the others are encoded, and it is one track", arguments: cases)
  func joined(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    let run = try Self.transcode(source, to: scratch.path(test.output), test)
    let copied = test.copied.map(\.count).reduce(0, +)
    #expect(run.report["output"]["copied_frames"].int == copied)
    #expect(run.report["output"]["encoded_frames"].int == 144 - copied)
    try Self.checkPackets(source, run.path, test)
    try Self.checkStrictly(run.path)
    if !test.follows { try Self.checkPictures(source, run.path, test, scratch) }
    try Self.checkSound(source, run.path)
  }

  /// Copied packets are the source's, bit for bit; times are the source's, and decoding times rise.
  private static func checkPackets(_ source: String, _ path: String, _ test: Case) throws {
    let old = try FFmpegTool.packets(source, "v:0", hashes: true)
    let new = try FFmpegTool.packets(path, "v:0", hashes: true)
    try #require(old.count == 144 && new.count == 144)
    if test.keepsForm {
      for index in test.copied.joined() where old[index].hash != new[index].hash {
        Issue.record("packet \(index) is not the source's")
      }
    }
    let dts = new.compactMap(\.dts)
    #expect(dts.count == 144 && zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(new.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
    let (before, after) = (old.compactMap(\.time).sorted(), new.compactMap(\.time).sorted())
    for (index, (one, other)) in zip(before, after).enumerated()
    where abs((one - before[0]) - (other - after[0])) > 0.0011 {
      Issue.record("picture \(index) is at \(other), not \(one)")
    }
  }

  /// A decoder that stops at the first thing it does not like gives every picture.
  private static func checkStrictly(_ path: String) throws {
    try FFmpegTool.run(
      ["-xerror", "-err_detect", "explode", "-i", path, "-f", "null", "-"])
    #expect(try FFmpegTool.frames(path).count == 144)
  }

  /// Copied pictures decode to the source's, and encoded ones are as good as those of a full encode.
  private static func checkPictures(
    _ source: String, _ path: String, _ test: Case, _ scratch: Scratch
  ) throws {
    let truth = try transcode(source, to: scratch.path("truth.y4m"), test)
    let full = try transcode(source, to: scratch.path("full-\(test.output)"), test) {
      $0.reencode = .always
      $0.codec = VideoCodec(rawValue: $0.codec?.rawValue ?? Self.codec(test))
    }
    func ratios(_ path: String) throws -> [FFmpegTool.Ratio] {
      try FFmpegTool.ratios(
        inputs: ["-i", path, "-i", truth.path], graph: "[0:v]null[a];[1:v]null[b]")
    }
    let (joined, wholly) = (try ratios(path), try ratios(full.path))
    try #require(joined.count == 144 && wholly.count == 144)
    let copied = Set(test.copied.joined())
    for index in 0..<144 where copied.contains(index) && joined[index].luma != .infinity {
      Issue.record("picture \(index) is not the source's: \(joined[index])")
    }
    let encoded = (0..<144).filter { !copied.contains($0) }
    func mean(_ ratios: [FFmpegTool.Ratio]) -> Double {
      encoded.map { ratios[$0].luma }.reduce(0, +) / Double(encoded.count)
    }
    figure("\(test.testDescription): \(mean(joined)) dB, encoded wholly \(mean(wholly)) dB")
    #expect(mean(joined) > mean(wholly) - 0.5)
    #expect(encoded.allSatisfy { joined[$0].luma > 25 })
  }

  private static func codec(_ test: Case) -> String {
    for (word, name) in [("x265", "hevc"), ("vpx", "vp9"), ("av1", "av1")]
    where test.encoder.contains(word) { return name }
    return "h264"
  }

  private static func checkSound(_ source: String, _ path: String) throws {
    let (old, new) = (
      try FFmpegTool.packets(source, "a:0", hashes: true),
      try FFmpegTool.packets(path, "a:0", hashes: true)
    )
    #expect(old.count == new.count)
  }
}
