import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// The output has the input's frames, each at the source's time: edit lists, late starts, unusual rates.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized, .tags(.lengthy))
struct TimestampTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let file: String
    let output: String
    var testDescription: String { "\(file) to \(output)" }
  }

  static let cases: [Case] = [
    "bframes-elst/iibbibb_editlist_videoonly.mp4", "vfr/sample_android_slow_motion.mp4",
    "flv/sample.flv", "mkv-webm/gizmo_av1_8bit_420.webm", "vfr/cursed-vfr.mp4",
    "bframes-elst/edit_list_positive_shift.mp4", "flv/avatar.flv", "real-footage/foreman.mp4",
    "rotation-real/sample_edit_list.mp4", "rotation-real/mv_with_2_top_shots.mp4",
  ].flatMap { file in
    ["out.mp4", "out.mkv"].map { Case(file: file, output: $0) }
  }

  @Test(
    "Every frame keeps its time", .long,
    .clips("bframes-elst", "vfr", "flv", "mkv-webm", "real-footage", "rotation-real"),
    arguments: Loop.cases(cases, test: 10))
  func kept(_ test: Case) throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/\(test.file)").path
    let run = try Transcoded(input, to: scratch.path(test.output)) {
      $0.size = .pair(PixelSize(144, 256))
    }
    let before = try FFmpegTool.frames(input).compactMap(\.time)
    let after = try FFmpegTool.frames(run.path).compactMap(\.time)
    #expect(run.result.output.frames == before.count)
    #expect(after.count == before.count)
    // Matroska has no time before zero. If audio begins there, all times are shifted by a constant.
    let isShifted = test.output.hasSuffix("mkv")
    let grain = isShifted ? 0.00101 : 2e-6
    let shift = isShifted ? (after.first ?? 0) - (before.first ?? 0) : 0
    let worst = zip(before, after).map { abs($0 - $1 + shift) }.max() ?? 1
    #expect(worst <= grain, "off by up to \(worst) s")
    let packets = try FFmpegTool.packets(run.path, "v:0")
    let dts = packets.compactMap(\.dts)
    #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    try RotationClipTests.compareAudio(input, run.path)
  }

  /// Encodes video and a tone that begin and end at different times.
  private static func make(
    _ scratch: Scratch, video: String, audio: String, videoAt: Double = 0,
    audioAt: Double = 0, rate: Int = 25
  ) throws -> String {
    let path = scratch.path("source.mkv")
    try FFmpegTool.run([
      "-itsoffset", "\(videoAt)", "-f", "lavfi", "-i",
      "testsrc2=s=160x90:r=\(rate):d=\(video)",
      "-itsoffset", "\(audioAt)", "-f", "lavfi", "-i", "sine=f=440:r=48000:d=\(audio)", "-map", "0",
      "-map", "1", "-c:v", "libx264", "-c:a", "aac", path,
    ])
    return path
  }

  struct Apart: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var video = "3"
    var audio = "3"
    var videoAt = 0.0
    var audioAt = 0.0
    var rate = 25
  }

  private static let aparts = [
    Apart(testDescription: "audio 14 s before the video", audio: "17", videoAt: 14),
    Apart(testDescription: "video 14 s before the audio", video: "17", audioAt: 14),
    Apart(testDescription: "audio ends early", video: "20", audio: "1"),
    Apart(testDescription: "video ends early", video: "1", audio: "20"),
    Apart(testDescription: "one frame per second", video: "70", audio: "70", rate: 1),
  ]

  /// Each container with each of these. Among the first five are all of both.
  static let pairs: [(Apart, String)] = {
    let outputs = ["out.mp4", "out.ts", "out.m3u8", "out.flv", "out.mkv"]
    return outputs.indices.flatMap { shift in
      aparts.indices.map { (aparts[$0], outputs[($0 + shift) % outputs.count]) }
    }
  }()

  @Test(
    "Video and audio that do not begin or end together", .long,
    arguments: Loop.cases(pairs, test: 5))
  func apart(_ test: Apart, _ name: String) throws {
    let scratch = try Scratch()
    let input = try Self.make(
      scratch, video: test.video, audio: test.audio, videoAt: test.videoAt,
      audioAt: test.audioAt, rate: test.rate)
    let output = try Scratch()
    let run = try Transcoded(input, to: output.path(name)) {
      $0.size = .pair(PixelSize(90, 160))
    }
    let before = try FFmpegTool.frames(input).compactMap(\.time)
    let after = try FFmpegTool.frames(run.path).compactMap(\.time)
    #expect(run.result.output.frames == before.count && after.count == before.count)
    let audio = try FFmpegTool.packets(input, "a:0").compactMap(\.time)
    let heard = try FFmpegTool.packets(run.path, "a:0").compactMap(\.time)
    #expect(audio.count == heard.count)
    let isExact = name == "out.mp4"
    let grain = isExact ? 0.0006 : 0.0022
    let offset = (audio.first ?? 0) - (before.first ?? 0)
    let now = (heard.first ?? 0) - (after.first ?? 0)
    #expect(abs(offset - now) <= grain, "audio was \(offset) s from the video, is \(now) s")
    // Matroska rounds the times of packets, which MP4 has to the sample.
    let packets = Double(audio.count - 1) * 1024 / 48000
    let last = isExact ? (audio.first ?? 0) + packets : audio.last ?? 0
    let end = last - (before.last ?? 0)
    let nowEnd = (heard.last ?? 0) - (after.last ?? 0)
    #expect(abs(end - nowEnd) <= grain, "at the end \(end) s became \(nowEnd) s")
  }

  @Test(
    "Cutting keeps video and audio in sync", .long, arguments: ["out.mp4", "out.m3u8", "out.mkv"])
  func cut(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.withAudio, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(360, 640))
      $0.start = 1
      $0.end = 4
    }
    #expect(run.result.output.frames == 90)
    let before = try FlashAndBeep(path: Samples.withAudio)
    let after = try FlashAndBeep(path: run.path)
    #expect(after.flashes.count == 3 && after.beeps.count == 3)
    let drift = zip(before.offsets[1...3], after.offsets).map { abs($0 - $1) }.max() ?? 1
    #expect(drift <= 1024.0 / 48000, "\(after)")
    if name == "out.mp4" {
      #expect(abs((after.flashes.first ?? 0) - 0.5) < 1e-3)
    }
  }
}
