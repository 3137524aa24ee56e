import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia

/// The timecode of a camera's file is kept where the container has a place for it, or named.
@Suite("Timecodes")
struct TimecodeTests {
  private static func clip(
    _ path: String, rate: String, timecode: String, _ options: String = ""
  ) throws {
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=\(rate):d=0.5 -c:v libx264 -metadata timecode=\(timecode) \(options)",
      [path])
  }

  // 3 s for all.
  @Test(
    "Kept in MP4 and QuickTime, copied and encoded, at every usual rate",
    arguments: [
      ("24", "14:23:55:07"), ("25", "01:02:03:04"), ("30", "10:00:00:00"), ("50", "23:59:59:49"),
      ("60", "00:00:00:59"), ("30000/1001", "01:00:00;02"), ("24000/1001", "09:08:07:06"),
    ], ["mp4", "mov"])
  func kept(_ source: (rate: String, timecode: String), _ container: String) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    try Self.clip(input, rate: source.rate, timecode: source.timecode)
    for size in [nil, PixelSize(96, 144)] {
      let run = try Transcoded(input, to: scratch.path("\(size == nil).\(container)")) {
        if let size { $0.size = .pair(size) }
        $0.quick()
      }
      let streams = try FFmpegTool.streams(run.path)
      #expect(streams[0]["tags"]["timecode"].string == source.timecode)
      #expect(streams.last?["codec_tag_string"].string == "tmcd")
      #expect(run.result.output.dropped.isEmpty, "\(run.result.output.dropped)")
    }
  }

  @Test("Named where it can't be stored, and where --start changes it")
  func named() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    try Self.clip(input, rate: "24", timecode: "14:23:55:07")
    for (output, start) in [("out.ts", nil), ("out.mkv", nil), ("out.mp4", 0.2)]
      as [(String, Double?)]
    {
      let run = try Transcoded(input, to: scratch.path(output)) {
        $0.start = start
        $0.quick()
      }
      let dropped = run.result.output.dropped
      #expect(
        dropped.contains { $0.hasPrefix("stream 1 (data, tmcd): timecode 14:23:55:07") },
        "\(output): \(dropped)")
    }
  }

  @Test("A tag that is no timecode of these frames doesn't fail the output")
  func invalid() throws {
    let scratch = try Scratch()
    for (index, text) in ["nonsense", "25:00:00:00", "10:00:00:24", "10:00:00;02", ""].enumerated()
    {
      let input = scratch.path("\(index).mkv")
      try Self.clip(input, rate: "24", timecode: "'\(text)'", "-metadata:s:v timecode=\(text)")
      let run = try Transcoded(input, to: scratch.path("\(index).mp4")) { $0.quick() }
      #expect(run.result.output.frames == 12)
      #expect(try FFmpegTool.streams(run.path)[0]["tags"]["timecode"].string == nil)
    }
    let rate = Rational(24, 1)
    #expect(Timecode("10:00:00:23", frameRate: rate) != nil)
    for text in [
      "10:00:00:24", "10:60:00:00", "10:00:00;00", "10:00:00:0", "+1:00:00:00", "1\u{E9}:00:00:0",
    ] {
      #expect(Timecode(text, frameRate: rate) == nil, "\(text)")
    }
    #expect(Timecode("10:00:00:00", frameRate: nil) == nil)
  }
}
