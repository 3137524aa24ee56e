import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Real clips with orientation metadata. The output must be upright, complete and undistorted, with the
/// input's frames, times and audio.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized, .tags(.lengthy))
struct RotationClipTests {
  struct Clip: CustomTestStringConvertible, Sendable {
    let file: String
    let width: Int
    let height: Int
    let frames: Int
    let turn: ImageOrientation
    var testDescription: String { file }
    var path: String { SharedFiles.url("clips/\(file)").path }
  }

  private static func clip(
    _ file: String, _ width: Int, _ height: Int, _ frames: Int, _ turn: ImageOrientation
  ) -> Clip {
    Clip(file: file, width: width, height: height, frames: frames, turn: turn)
  }

  static let clips = [
    clip("rotation-real/iphone_rotated.mov", 320, 568, 66, .right),
    clip("rotation-real/exo_video_1_rot270.mp4", 288, 352, 23, .left),
    clip("rotation-real/h265_with_metadata_track.mp4", 1080, 1920, 3, .right),
    clip("rotation-real/pixel7_videoOnly_cleaned.mp4", 1920, 1080, 36, .down),
    clip("rotation-real/dolbyVision-hdr.MOV", 720, 1280, 4, .right),
    clip("rotation-real/sample_edit_list.mp4", 1080, 1920, 77, .right),
    clip("rotation-D4/qt_color_matrix_0.mp4", 960, 540, 24, .up),
    clip("rotation-D4/qt_color_matrix_90cw.mp4", 540, 960, 24, .right),
    clip("rotation-D4/qt_color_matrix_180.mp4", 960, 540, 24, .down),
    clip("rotation-D4/qt_color_matrix_270cw.mp4", 540, 960, 24, .left),
    clip("rotation-D4/qt_color_matrix_mirrored.mp4", 960, 540, 24, .upMirrored),
    clip("rotation-D4/sample_rotate_and_reflect.mp4", 720, 1080, 30, .leftMirrored),
    clip("rotation-D4/four-colors-h264-bt601.mp4", 320, 240, 50, .up),
    clip("rotation-D4/four-colors-h264-bt601-rotate-90.mp4", 320, 240, 50, .right),
    clip("rotation-D4/four-colors-h264-bt601-hflip.mp4", 320, 240, 50, .upMirrored),
    clip("rotation-D4/video-rotation-90.mp4", 128, 96, 1, .right),
    clip("rotation-D4/gecko_video_rotation_90.mp4", 60, 100, 1, .right),
    clip("rotation-D4/gecko_video_rotated.mp4", 60, 100, 1, .up),
    // Like others, and ten times as long.
    clip("rotation-real/rotate-buck-bunny.mp4", 1080, 1920, 45, .right),
    clip("rotation-real/mv_with_2_top_shots.mp4", 1080, 1440, 53, .left),
  ]

  @Test(
    "A clip with a display matrix becomes upright", .long, .clips("rotation-real", "rotation-D4"),
    arguments: Loop.cases(clips, test: 18))
  func upright(_ clip: Clip) throws {
    let scratch = try Scratch()
    let run = try Transcoded(clip.path, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(run.report["formats"].array.map { $0["turn"].string } == [clip.turn.name])
    #expect(run.result.output.frames == clip.frames)

    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["width"].int == clip.width && video["height"].int == clip.height)
    #expect(["1:1", nil].contains(video["sample_aspect_ratio"].string))
    #expect(video["side_data_list"].array.isEmpty, "a matrix remains: \(video["side_data_list"])")
    #expect(video["tags"]["rotate"].isNull)
    try Self.compareTimes(clip.path, run.path)
    try Self.compareAudio(clip.path, run.path)

    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", clip.path, "-i", run.path],
      graph: "[0:v:0]format=yuv420p,setsar=1[a];[1:v:0]format=yuv420p,setsar=1[b]")
    #expect(ratios.count == clip.frames)
    figure("\(clip.file): worst luma \(ratios.worst.luma) dB")
    #expect(ratios.worst.luma > 32, "frame \(ratios.worst.frame): \(ratios.worst.luma) dB")
  }

  /// Checks that every shown frame of `source` is there at its time, and that the durations are equal.
  static func compareTimes(_ source: String, _ output: String) throws {
    let theirs = try FFmpegTool.frames(source).compactMap(\.time)
    let ours = try FFmpegTool.frames(output).compactMap(\.time)
    #expect(theirs.count == ours.count)
    let worst = zip(theirs, ours).map { abs($0 - $1) }.max() ?? 0
    #expect(worst < 1e-4, "PTS differ by up to \(worst) s")
    let before = try #require(try FFmpegTool.streams(source, "video").first)
    let after = try #require(try FFmpegTool.streams(output, "video").first)
    if let old = before["duration"].string.flatMap(Double.init),
      let new = after["duration"].string.flatMap(Double.init), theirs.count > 1
    {
      let frame = (theirs.last ?? 0) - (theirs.first ?? 0)
      #expect(
        abs(old - new) <= frame / Double(theirs.count - 1) + 0.001, "\(old) s became \(new) s")
    }
  }

  /// Checks that the audio keeps its offset to the first frame, measured by a common packet if it was
  /// copied, or else by the first decoded audio frame.
  static func compareAudio(_ source: String, _ output: String) throws {
    guard let audio = try FFmpegTool.streams(source, "audio").first,
      audio["codec_name"].string != nil
    else { return }
    let rate = Double(audio["sample_rate"].string ?? "48000") ?? 48000
    let pictures = try [source, output].map { try FFmpegTool.frames($0).first?.time ?? 0 }
    let packets = try [source, output].map {
      try FFmpegTool.packets($0, "a:0", hashes: true).filter { !$0.isDiscarded }
    }
    var offsets: [Double] = []
    if let common = packets[0].first(where: { mine in
      packets[1].contains { $0.hash == mine.hash }
    }) {
      for (index, list) in packets.enumerated() {
        let time = list.first { $0.hash == common.hash }?.time ?? .nan
        offsets.append(time - pictures[index])
      }
    } else {
      for (path, picture) in zip([source, output], pictures) {
        let first = try FFmpegTool.probe(
          path, ["-select_streams", "a:0", "-show_frames", "-read_intervals", "%+#4"])
        let time = first["frames"][0]["pts_time"].string.flatMap(Double.init) ?? .nan
        offsets.append(time - picture)
      }
    }
    #expect(
      abs(offsets[0] - offsets[1]) <= 1024 / rate + 1e-6,
      "audio was at \(offsets[0]), is at \(offsets[1])")
  }

  @Test(
    "A JPEG with an EXIF orientation becomes upright", .clips("exif-jpeg"),
    arguments: [
      clip("exif-jpeg/Landscape_1.jpg", 0, 0, 1, .up),
      clip("exif-jpeg/Landscape_6.jpg", 0, 0, 1, .right),
      clip("exif-jpeg/Portrait_3.jpg", 0, 0, 1, .down),
      clip("exif-jpeg/four-colors-rotate-90-cw.jpg", 0, 0, 1, .right),
    ])
  func exif(_ clip: Clip) throws {
    let scratch = try Scratch()
    let run = try Transcoded(clip.path, to: scratch.path("out.y4m"))
    #expect(run.result.output.frames == 1)
    #expect(run.report["formats"].array.map { $0["turn"].string } == [clip.turn.name])
    let stored = try #require(try FFmpegTool.streams(clip.path, "video").first)
    let size = PixelSize(stored["width"].int ?? 0, stored["height"].int ?? 0)
    let upright = clip.turn.applied(to: size)
    let picture = try Y4M(path: run.path)
    #expect(picture.width == upright.width & ~1 && picture.height == upright.height & ~1)
    guard upright.width % 2 == 0 && upright.height % 2 == 0 else { return }
    let reference = scratch.path("reference.y4m")
    try FFmpegTool.run([
      "-noautorotate", "-i", clip.path, "-vf", ExactTurnTests.filter(clip.turn), "-strict", "-1",
      "-f", "yuv4mpegpipe", reference,
    ])
    let theirs = try Y4M(path: reference)
    #expect(theirs.width == picture.width && theirs.height == picture.height)
    #expect(picture.difference(from: theirs) == nil)
  }

  @Test(
    "The clips of a reftest pair look the same",
    .clips("rotation-D4"))
  func reftestPair() throws {
    let scratch = try Scratch()
    let paths = try ["gecko_video_rotation_90", "gecko_video_rotated"].map { name in
      try Transcoded(
        SharedFiles.url("clips/rotation-D4/\(name).mp4").path, to: scratch.path("\(name).y4m")
      ).path
    }
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", paths[0], "-i", paths[1]], graph: "[0]setsar=1[a];[1]setsar=1[b]")
    #expect(ratios.worst.luma > 30)
  }

  @Test(
    "An SEI orientation turns all frames, not only the one with the message", .clips("sei-derived"),
    arguments: [
      clip("sei-derived/foreman_sei_ccw90.mp4", 288, 352, 60, .left),
      clip("sei-derived/foreman_sei_hflip.mp4", 352, 288, 60, .upMirrored),
      clip("sei-derived/foreman_sei_180_es.h264", 352, 288, 60, .down),
    ])
  func sei(_ clip: Clip) throws {
    let scratch = try Scratch()
    let run = try Transcoded(clip.path, to: scratch.path("out.y4m"))
    #expect(run.result.output.frames == clip.frames)
    #expect(run.report["formats"].array.map { $0["turn"].string } == [clip.turn.name])
    let picture = try Y4M(path: run.path)
    #expect(picture.width == clip.width && picture.height == clip.height)
    let reference = scratch.path("reference.y4m")
    try FFmpegTool.run([
      "-noautorotate", "-i", clip.path, "-vf", ExactTurnTests.filter(clip.turn), "-fps_mode",
      "passthrough", "-f", "yuv4mpegpipe", reference,
    ])
    let theirs = try Y4M(path: reference)
    #expect(theirs.count == picture.count)
    #expect(picture.difference(from: theirs) == nil)
  }

  @Test(
    "A rotation in a track's title is ignored", .long,
    .clips("rotation-other/sample_with_htc_rotation_track_name.mkv"))
  func trackName() throws {
    let scratch = try Scratch()
    let input = SharedFiles.url(
      "clips/rotation-other/sample_with_htc_rotation_track_name.mkv"
    ).path
    let run = try Transcoded(input, to: scratch.path("out.mp4"))
    #expect(run.result.output.frames == 30)
    #expect(run.report["formats"].array.map { $0["encodeResolution"].string } == ["1080x720"])
    try Self.compareTimes(input, run.path)
    try Self.compareAudio(input, run.path)
  }
}
