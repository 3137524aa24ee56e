import Foundation
import UprightOrientation
import Testing
import UprightFrames
import UprightMediaIO
import UprightTestSupport

@testable import UprightFiles
@testable import UprightMedia

/// `--start` begins decoding at an earlier keyframe if that doesn't change the result. The output equals
/// that of decoding from the beginning.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct StartTests {
  /// Encodes twelve seconds with B-frames, open GOPs and a tone, with a keyframe every two seconds.
  private static func source(_ scratch: Scratch, _ name: String, _ more: String = "") throws
    -> String
  {
    let path = scratch.path(name)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=25:d=12 -f lavfi -i sine=f=440:r=48000:d=12"
        + " -c:v libx264 -preset veryfast -bf 3 -g 50 -x264-params open-gop=1 -c:a aac \(more)",
      [path])
    return path
  }

  private static func point(_ input: String, _ start: Double, frames: FrameKind = .metadata) throws
    -> Int64?
  {
    var options = TranscodeOptions()
    options.start = start
    options.frames = frames
    let session = try TranscodeSession(
      input: input, output: "/dev/null", outputFormat: "mp4", options: options)
    return try SessionPlan(session.request, isDryRun: true).startPoint()
  }

  @Test(
    "The same frames and audio as when decoding from the beginning",
    .long,
    arguments: Loop.cases(["source.mp4", "source.ts", "source.mkv", "source.flv"], test: 2),
    [7.0, 7.96, 11.5])
  func same(_ name: String, _ start: Double) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, name)
    // The reference: the whole output, of which the part begins at the start time.
    let whole = try Y4M(path: Transcoded(input, to: scratch.path("whole.y4m")).path)
    let run = try Transcoded(input, to: scratch.path("part.y4m")) { $0.start = start }
    let part = try Y4M(path: run.path)
    let skipped = whole.count - part.count
    #expect(skipped == Int((start * 25).rounded(.up)))
    for frame in 0..<part.count {
      for plane in 0..<3 {
        let isSame = whole.plane(plane, frame: skipped + frame) == part.plane(plane, frame: frame)
        #expect(isSame, "frame \(frame), plane \(plane)")
      }
    }
    #expect(run.report["input"]["frames"].int ?? 999 < 300 - Int(start * 25) + 125)
    #expect(run.result.warnings.isEmpty, "\(run.result.warnings)")
    // With audio, in sync as before.
    let heard = try Transcoded(input, to: scratch.path("part.mp4")) { $0.start = start }
    let audio = try FFmpegTool.packets(heard.path, "a:0").compactMap(\.time)
    let pictures = try FFmpegTool.frames(heard.path).compactMap(\.time)
    #expect(pictures.count == part.count)
    #expect(abs((audio.first ?? 9) - (pictures.first ?? 0)) < 0.045)
    #expect(Double(audio.count) > (12 - start) * 48000 / 1024 - 3)
  }

  @Test(
    "Subtitles from before the keyframe that is sought are there, once", .long,
    arguments: ["mp4", "mkv"])
  func subtitles(_ kind: String) throws {
    let scratch = try Scratch()
    let (clip, text) = (try Self.source(scratch, "clip.mp4"), scratch.path("text.srt"))
    let input = scratch.path("source.\(kind)")
    try "1\n00:00:00,000 --> 00:00:01,000\none\n\n2\n00:00:01,000 --> 00:00:09,000\ntwo\n"
      .write(toFile: text, atomically: true, encoding: .utf8)
    try FFmpegTool.run([
      "-i", clip, "-i", text, "-map", "0", "-map", "1", "-c", "copy", "-c:s",
      kind == "mp4" ? "mov_text" : "srt", input,
    ])
    #expect(try Self.point(input, 8) != nil)
    let run = try Transcoded(input, to: scratch.path("part.mkv")) { $0.start = 8 }
    let cues = try FFmpegTool.packets(run.path, "s:0").compactMap(\.time)
    #expect(cues.count == 1 && abs((cues.first ?? 9)) < 0.003, "\(cues)")
    #expect(run.report["input"]["frames"].int ?? 999 < 200)
  }

  @Test("Decoding starts one second before, if that needs a keyframe other than the first", .long)
  func point() throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, "source.mp4")
    let tick = 1.0 / 12800
    let origin = try FFmpegTool.frames(input).first?.pts ?? 0
    for start in [7.5, 7, 6.9, 11.9] {
      let found = try #require(try Self.point(input, start))
      #expect(abs(Double(found - Int64(origin)) * tick - (start - 1)) < 0.001, "\(start)")
    }
    // The only keyframe before 2.5 s minus one second is the first.
    #expect(try Self.point(input, 2.5) == nil)
  }

  @Test(
    "If the orientation can change in mid-stream, everything is decoded",
    .clips("sei-derived/foreman_sei_ccw90.mp4"))
  func signals() throws {
    let scratch = try Scratch()
    let path = "sei-derived/foreman_sei_ccw90.mp4"
    // The clip is repeated six times, so that there is something to skip.
    let list = scratch.path("list.txt")
    let clip = SharedFiles.url("clips/\(path)").path
    try Array(repeating: "file '\(clip)'\n", count: 6).joined()
      .write(toFile: list, atomically: true, encoding: .utf8)
    let input = scratch.path("long.mp4")
    try FFmpegTool.run(["-f", "concat", "-safe", "0", "-i", list, "-c", "copy", input])
    #expect(try Self.point(input, 9) == nil)
    #expect(try Self.point(input, 9, frames: .upright) != nil)
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.start = 9
      $0.quick()
    }
    #expect(run.report["formats"][0]["turn"].string == "left")
  }
}
