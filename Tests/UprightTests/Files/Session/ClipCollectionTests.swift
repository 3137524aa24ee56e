import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Converts every clip of the collection to MP4 and to HLS. The output has the input's content, or the
/// report names the reason.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .tags(.lengthy))
struct ClipCollectionTests {
  /// Clips of which nothing can be decoded. They cause an error and no output.
  private static let hopeless: Set = ["0-timescale.mp4", "vp9cake_corrupt.webm"]

  /// The kind and the name of each clip.
  static let clips: [String] = {
    let root = SharedFiles.url("clips")
    let kinds = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
    // `found` contains files made to cause failures. Each has a separate test.
    return kinds.sorted().filter { !["vectors", "rtp", "found"].contains($0) }.flatMap { kind in
      // Beside the folders are files with lists of clips. They yield no entries here.
      let folder = root.appendingPathComponent(kind, isDirectory: true).path
      return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
        .map { "\(kind)/\($0)" }
    }
  }()

  /// The duration that is compared in each clip, in seconds.
  private static let length = Loop.current == .slow ? 1.5 : 0.6

  @Test("Output is upright, complete, in sync", .long, .clips("rotation-real"), arguments: clips)
  func clip(_ name: String) throws {
    try compare(name, end: Self.length)
    // Damage may be anywhere in the file.
    if name.hasPrefix("broken/") { try compare(name, end: nil) }
  }

  private func compare(_ name: String, end: Double?) throws {
    let input = SharedFiles.url("clips/\(name)").path
    let scratch = try Scratch()
    let before = try Clip(input, end: end ?? 100)
    for output in Loop.cases(["out.mp4", "out.m3u8"], test: 1) {
      if Self.hopeless.contains(String(name.split(separator: "/")[1])) {
        #expect(throws: UprightError.self) { _ = try Transcoded(input, to: scratch.path(output)) }
        #expect(scratch.names.isEmpty)
        continue
      }
      let isDeep = before.depth > 8
      let run = try Transcoded(input, to: scratch.path(output)) {
        $0.end = end
        $0.codec = isDeep ? .hevc : .h264
        $0.quick()
        if output == "out.m3u8" || before.width * before.height > 500_000 {
          $0.size = .pair(PixelSize(180, 320))
        }
      }
      let after = try Clip(run.path, end: 100)
      let turn = try #require(run.report["formats"][0]["turn"].string)
      compareFrames(before, after, run, "\(name) \(output)")
      compareColour(before, after, ImageOrientation(name: turn) ?? .up, "\(name) \(output)")
      compareAudio(before, after, run, end: end, "\(name) \(output)")
      #expect(after.ratio == "1:1", "\(output)")
      #expect(after.depth == (isDeep ? 10 : 8))
      #expect(!after.hasMatrix, "an applied matrix is still in the output")
    }
  }

  /// What ffprobe reports for the first video stream and the first audio stream.
  private struct Clip {
    var times: [Double] = []
    /// All frames, including those without a time.
    var frames = 0
    var width = 0
    var height = 0
    var colour: [String: String] = [:]
    var depth = 8
    var ratio = ""
    var hasMatrix = false
    /// The time of the first audio packet, and its duration.
    var audio: Double?
    var audioLength = 0.0

    init(_ path: String, end: Double) throws {
      let streams = try FFmpegTool.streams(path)
      guard let video = streams.first(where: { $0["codec_type"].string == "video" }) else { return }
      (width, height) = (video["width"].int ?? 0, video["height"].int ?? 0)
      ratio = video["sample_aspect_ratio"].string ?? "none"
      hasMatrix = video["side_data_list"].array.contains {
        $0["side_data_type"].string == "Display Matrix"
      }
      // A few seconds more than are compared, because decoding order differs from presentation order with
      // B-frames.
      let all = try FFmpegTool.probe(
        path, ["-select_streams", "v:0", "-show_frames", "-read_intervals", "%+\(end + 3)"]
      )["frames"].array.map { (time: ClipCollectionTests.time($0), json: $0) }
      let first = all.first?.time ?? 0
      let inside = all.filter { ($0.time ?? first) - first < end - 0.001 }
      frames = inside.count
      times = inside.compactMap(\.time)
      for key in [
        "color_range", "color_space", "color_primaries", "color_transfer", "chroma_location",
      ] {
        colour[key] = all.first?.json[key].string ?? "unspecified"
      }
      depth = (all.first?.json["pix_fmt"].string ?? "").contains("10") ? 10 : 8
      if streams.contains(where: { $0["codec_type"].string == "audio" }) {
        let packets = try FFmpegTool.packets(path, "a:0")
        audio = packets.first?.time
        let rate = streams.first { $0["codec_type"].string == "audio" }?["sample_rate"].string
        audioLength = 1024 / (rate.flatMap(Double.init) ?? 44100)
        if let audio, let next = packets.dropFirst().first?.time {
          audioLength = max(audioLength, next - audio)
        }
      }
    }
  }

  private static func time(_ frame: JSON) -> Double? {
    // If times are damaged, FFmpeg uses its best effort timestamp.
    (frame["best_effort_timestamp_time"].string ?? frame["pts_time"].string).flatMap(Double.init)
  }

  private func compareFrames(_ before: Clip, _ after: Clip, _ run: Transcoded, _ name: String) {
    #expect(after.frames == run.result.output.frames, "\(name)")
    #expect(after.frames > 0)
    // Raw streams have no times. They can't be compared here.
    guard before.times.count == before.frames else { return }
    // Frames that can't be decoded are missing on both sides.
    #expect(after.frames == before.frames, "\(name): \(run.result.warnings)")
    let isMended = run.result.warnings.contains { $0.contains("did not increase") }
    guard !isMended, before.times.count == after.times.count else { return }
    let shift = (after.times.first ?? 0) - (before.times.first ?? 0)
    let worst = zip(before.times, after.times).map { abs($1 - $0 - shift) }.max() ?? 0
    #expect(worst < 2e-6, "\(name): a frame is \(worst) s off")
  }

  private func compareColour(
    _ before: Clip, _ after: Clip, _ turn: ImageOrientation, _ name: String
  ) {
    for key in ["color_space", "color_primaries", "color_transfer"] {
      func said(_ value: String?) -> String? {
        value == "unknown" || value == "unspecified" ? nil : value
      }
      let (was, isNow) = (said(before.colour[key]), said(after.colour[key]))
      // An untagged frame may be tagged as what players assume at its size, if it is scaled.
      let isLarge =
        max(before.width, before.height) >= 1280 || min(before.width, before.height) > 576
      let assumed = isLarge ? ["bt709"] : ["smpte170m", "bt470bg"]
      let isScaled = (before.width, before.height) != (after.width, after.height)
      #expect(
        was == isNow || was == nil && isScaled && assumed.contains(isNow ?? ""), "\(name) \(key)")
    }
    // Missing range information means limited range in H.264 and HEVC.
    #expect(
      (before.colour["color_range"] == "pc") == (after.colour["color_range"] == "pc"), "\(name)")
    let siting: [String: (ImageOrientation) -> String] = [
      "left": {
        switch $0 {
        case .right, .leftMirrored: "top"
        case .left, .rightMirrored: "bottom"
        default: "left"
        }
      },
      "center": { _ in "center" },
    ]
    if let source = before.colour["chroma_location"], let expected = siting[source] {
      #expect(after.colour["chroma_location"] == expected(turn), "\(name)")
    }
  }

  private func compareAudio(
    _ before: Clip, _ after: Clip, _ run: Transcoded, end: Double?, _ name: String
  ) {
    guard let audio = before.audio, let first = before.times.first, audio - first < end ?? .infinity
    else { return }
    guard let heard = after.audio, let shown = after.times.first else {
      let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
      #expect(dropped.contains { $0.contains("audio") }, "\(name): unreported loss of audio")
      return
    }
    // Cutting drops audio that begins before the first frame.
    guard audio >= first - 0.0001 else { return }
    let moved = abs((heard - shown) - (audio - first))
    #expect(moved <= max(before.audioLength, after.audioLength) + 0.001, "\(name): \(moved) s")
  }
}
