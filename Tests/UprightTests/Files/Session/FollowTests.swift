import Foundation
import UprightOrientation
import UprightPolicy
import Synchronization
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// The size of the stream follows the app. Every player must show 300 frames, in order, upright, with the
/// changes at frames 100 and 200.
@Suite(
  .enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"), .serialized,
  .tags(.lengthy))
struct FollowTests {
  struct Output: CustomTestStringConvertible, Sendable {
    let name: String
    /// The resolution of the container's times, in seconds. A PTS may differ by this much.
    let grain: Double
    /// The time of the first frame, in seconds. `nil` if any is correct.
    var start: Double?
    var codec: VideoCodec?
    var segments = SegmentKind.fmp4
    var splits = false
    var clip = NumberedClip.Clip.constant

    var testDescription: String {
      var words = [name]
      if let codec { words.append(codec.rawValue) }
      if segments == .ts { words.append("of ts") }
      if splits { words.append("split") }
      if clip == .variable { words.append("variable rate") }
      return words.joined(separator: ", ")
    }

    /// The same with another clip.
    func with(_ clip: NumberedClip.Clip) -> Self {
      var copy = self
      copy.clip = clip
      return copy
    }
  }

  /// H.264 in every container. Containers without negative times shift all times because of the reordering.
  static let plain = [
    Output(name: "out.m3u8", grain: 4e-5),
    Output(name: "out.mp4", grain: 1e-6, start: 0),
    Output(name: "out.ts", grain: 1.0 / 90_000),
    Output(name: "out.mkv", grain: 0.00101, splits: true),
    Output(name: "out.m3u8", grain: 1.0 / 90_000, segments: .ts),
    Output(name: "out.mov", grain: 1e-6, start: 0),
    Output(name: "out.flv", grain: 0.00101),
    Output(name: "out.webm", grain: 0.00101, splits: true),
  ]

  static let otherCodecs = [
    Output(name: "out.mp4", grain: 4e-5, start: 0, codec: .hevc),
    Output(name: "out.ts", grain: 4e-5, codec: .hevc),
    Output(name: "out.m3u8", grain: 4e-5, codec: .hevc),
    Output(name: "out.mp4", grain: 4e-5, start: 0, codec: .av1),
    Output(name: "out.m3u8", grain: 4e-5, codec: .av1),
    Output(name: "out.mp4", grain: 4e-5, start: 0, codec: .vp9),
    Output(name: "out.mkv", grain: 0.00101, codec: .hevc, splits: true),
  ]

  /// Begins with one of each kind of container, one of them at a variable frame rate.
  static let outputs =
    [plain[0], plain[1].with(.variable), plain[2], plain[3]]
    + [plain[0].with(.variable), plain[1], plain[2].with(.variable), plain[3].with(.variable)]
    + (plain.dropFirst(4) + otherCodecs).flatMap { [$0, $0.with(.variable)] }

  /// The results of `make`, by the output's description. The tests of this suite share the files.
  private static let made = Mutex<[String: (Scratch, Transcoded)]>([:])

  /// Returns the transcode of the turning phone for `output`, which is made only once.
  private static func shared(_ output: Output) throws -> (Scratch, Transcoded) {
    if let made = made.withLock({ $0[output.testDescription] }) { return made }
    let scratch = try Scratch()
    let run = try make(output, in: scratch)
    made.withLock { $0[output.testDescription] = (scratch, run) }
    return (scratch, run)
  }

  /// Transcodes the turning phone to the container of `output`.
  private static func make(_ output: Output, in scratch: Scratch) throws -> Transcoded {
    try Transcoded(
      output.clip.path(), to: scratch.path(output.name), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(180, 320))
      $0.codec = output.codec
      $0.segments = output.segments
      $0.splits = output.splits
      // The deepest reordering.
      if output.codec == nil, !output.name.hasSuffix("webm") {
        $0.encoderOptions = ["bf": "3", "b_strategy": "0"]
      }
    }
  }

  /// The files that a player plays one after another, each with the index of its first frame.
  private static func parts(_ run: Transcoded) -> [(path: String, first: Int)] {
    run.result.output.files.enumerated().map { ($1, $0 * 100) }
  }

  @Test(
    "FFmpeg decodes every frame once, upright, with both changes", .long,
    arguments: Loop.cases(outputs, test: 4))
  func ffmpeg(_ output: Output) throws {
    let (_, run) = try Self.shared(output)
    #expect(run.result.output.frames == 300)
    #expect(run.result.output.sizes.map(\.description) == ["180x320", "320x180", "180x320"])
    let formats = run.report["formats"].array
    #expect(formats.map { $0["first_frame"].int } == [0, 100, 200])
    #expect(formats.map { $0["encodeResolution"].string } == ["180x320", "320x180", "180x320"])

    let theirs = try FFmpegTool.frames(output.clip.path()).compactMap(\.time)
    try #require(theirs.count == 300)
    var shown = 0
    for (path, first) in Self.parts(run) {
      let (status, said) = try Player.ffmpeg.play([path])
      #expect(status == 0, "\(said["error"])")
      #expect(said["errors"].array.isEmpty, "\(said["errors"])")
      let numbers = said["numbers"].ints
      shown += numbers.count
      #expect(numbers == Array(first..<(output.splits ? first + 100 : 300)))
      #expect(said["unordered"].int == 0 && said["backwards"].int == 0)
      let changes = output.splits ? [0] : [0, 100, 200]
      #expect(said["sizes"].array.map { $0["frame"].int } == changes)
      #expect(
        said["sizes"].array.map { $0["width"].int }
          == changes.map { ($0 + first) / 100 == 1 ? 320 : 180 })
      #expect(said["lies"].array.map { $0["orientation"].int } == [1])

      // The times equal the source's, apart from a common offset.
      let times = said["times"].doubles
      try #require(times.count == numbers.count)
      let start = (output.start ?? times[0]) - theirs[first]
      let worst = zip(times, theirs[first...]).map { abs($0 - start - $1) }.max() ?? 1
      #expect(worst <= output.grain + 1e-6, "off by \(worst) s")
    }
    #expect(shown == 300)
  }

  @Test(
    "Decoding times increase strictly and never exceed the PTS, and each format begins with an IDR",
    arguments: Loop.cases(outputs, test: 4))
  func decodingTimes(_ output: Output) throws {
    let (_, run) = try Self.shared(output)
    for (path, first) in Self.parts(run) {
      let packets = try FFmpegTool.packets(path, "v:0")
      #expect(packets.count == (output.splits ? 100 : 300))
      let dts = packets.compactMap(\.dts)
      // Matroska has no decoding times. libavformat estimates them where it can.
      if !output.splits {
        #expect(dts.count == 300)
        #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
        #expect(packets.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
      }
      // In decoding order, the first packet of a format is its IDR, also at 100 and 200.
      for index in [0, 100, 200] where packets.indices.contains(index) {
        #expect(packets[index].isKey, "packet \(first + index)")
        #expect(packets[..<index].allSatisfy { ($0.pts ?? 0) < (packets[index].pts ?? 0) })
      }
      if output.codec == nil, output.name != "out.webm", !output.splits {
        // Without reordering, this test would prove little.
        #expect(packets.contains { $0.pts != $0.dts })
      }
    }
  }

  @Test(
    "GStreamer decodes every frame, with both changes",
    .plays(.gstreamer), .long,
    arguments: Loop.cases(outputs, test: 4))
  func gstreamer(_ output: Output) throws {
    let (_, run) = try Self.shared(output)
    let theirs = try FFmpegTool.frames(output.clip.path()).compactMap(\.time)
    try #require(theirs.count == 300)
    for (path, first) in Self.parts(run) {
      let (status, said) = try Player.gstreamer.play([path, "--audio"])
      #expect(status == 0, "\(said["error"])")
      #expect(said["frames"].int == (output.splits ? 100 : 300))
      #expect(said["backwards"].int == 0)
      #expect(said["audio"]["buffers"].int ?? 0 > (output.splits ? 150 : 460))
      let sizes = said["sizes"].array
      let frames = output.splits ? [first] : [0, 100, 200]
      #expect(sizes.map { $0["width"].int } == frames.map { $0 / 100 == 1 ? 320 : 180 })
      let start = said["times"].doubles.first ?? 0
      for (size, frame) in zip(sizes, frames) {
        let at = theirs[frame] - theirs[first]
        #expect(abs((size["at"].double ?? -1) - start - at) < 0.002, "\(size)")
      }
    }
  }

  @Test(
    "Chromium plays the output to its end, upright",
    .plays(.chromium), .browser,
    // Free builds of Chromium don't decode HEVC.
    arguments: Loop.cases(
      outputs.filter {
        ["out.m3u8", "out.mp4"].contains($0.name) && $0.codec != .hevc && $0.segments == .fmp4
      }, test: 2))
  func chromium(_ output: Output) throws {
    let (scratch, run) = try Self.shared(output)
    let times = try FFmpegTool.frames(run.path).compactMap(\.time)
    try #require(times.count == 300)
    // The middle of the frames on both sides of each change, and of some others. For a playlist, Chromium's
    // time zero is the first frame, and it starts what follows a discontinuity after the end of the longer
    // track.
    let isExact = output.name == "out.mp4"
    let frames = [45, 97, 99, 100, 102, 197, 199, 200, 202, 255]
    let zero = isExact ? 0 : times[0]
    let middles = frames.map { (times[$0] + times[$0 + 1]) / 2 - zero }
    let pictures = try Scratch()
    let (status, said) = try Player.chromium.play([
      scratch.folder.path, output.name, "--rate", "4", "--snapshot",
      middles.map { "\($0)" }.joined(separator: ","), "--out", pictures.folder.path,
    ])
    #expect(status == 0, "\(said["error"])")
    #expect(said["ended"].bool == true)
    #expect(abs((said["duration"].double ?? 0) - 10) < 0.1)
    let sizes = said["sizes"].array
    #expect(sizes.map { $0["width"].int } == [180, 320, 180], "\(sizes)")
    // The number of frames shown in time depends on the machine. The size of a frame is checked by seeking
    // to the frames on both sides of each change.
    #expect(said["totalVideoFrames"].int ?? 0 > 200)
    let snapshots = said["snapshots"].array
    try #require(snapshots.count == frames.count)
    var shown: Set<Int> = []
    for (snapshot, frame) in zip(snapshots, frames) {
      let file = try #require(snapshot["file"].string)
      let path = file.hasPrefix("/") ? file : pictures.path(file)
      let (_, read) = try Player.ffmpeg.play([path])
      let number = try #require(read["numbers"].ints.first, "no number at \(frame)")
      #expect(abs(number - frame) <= (isExact ? 0 : 2), "\(number) is shown instead of \(frame)")
      // The frame's number determines its size.
      let isLandscape = number / 100 == 1
      #expect(snapshot["width"].int == (isLandscape ? 320 : 180), "frame \(number)")
      #expect(snapshot["height"].int == (isLandscape ? 180 : 320), "frame \(number)")
      shown.insert(number / 100)
      try Self.checkCorners(
        path, PixelSize(snapshot["width"].int ?? 0, snapshot["height"].int ?? 0))
    }
    #expect(shown == [0, 1, 2])
  }

  /// Red is top left, green top right, blue bottom left, yellow bottom right if the frame is upright and
  /// not mirrored.
  static func checkCorners(_ picture: String, _ size: PixelSize) throws {
    let raw = try FFmpegTool.run([
      "-i", picture, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
    ])
    try #require(raw.count == size.width * size.height * 3)
    let inset = min(size.width, size.height) / 15
    let corners: [(String, Int, Int, [Int])] = [
      ("top left", inset, inset, [0xE0, 0x20, 0x20]),
      ("top right", size.width - inset, inset, [0x20, 0xB0, 0x40]),
      ("bottom left", inset, size.height - inset, [0x20, 0x40, 0xE0]),
      ("bottom right", size.width - inset, size.height - inset, [0xF0, 0xD0, 0x20]),
    ]
    for (name, x, y, colour) in corners {
      let start = (y * size.width + x) * 3
      let pixel = raw[start..<start + 3].map { Int($0) }
      let distance = zip(pixel, colour).map { abs($0 - $1) }.max() ?? 255
      #expect(distance < 40, "\(name): \(pixel), not \(colour)")
    }
  }

  @Test("The playlist has three formats with one map each, and two discontinuities")
  func playlist() throws {
    let (scratch, run) = try Self.shared(Self.plain[0])
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps == ["out-init-0.mp4", "out-init-1.mp4", "out-init-2.mp4"])
    #expect(playlist.discontinuities == 2)
    #expect(playlist.isEnded)
    #expect(playlist.version >= 6)
    // Cut at the frames of the changes, and nowhere else: the clip has ten seconds, a segment six.
    #expect(playlist.segments.count == 3)
    for (segment, length) in zip(playlist.segments, [100.0 / 30, 100.0 / 30, 100.0 / 30]) {
      #expect(abs(segment.duration - length) < 1e-3, "\(segment)")
      #expect(segment.duration.rounded() <= Double(playlist.targetDuration))
    }
    #expect(playlist.segments.map(\.map) == playlist.maps)
    #expect(playlist.segments.map(\.isDiscontinuous) == [false, true, true])
    // Each change is a turn at the first frame of its segment.
    #expect(playlist.turns.map(\.start) == playlist.segments.dropFirst().map(\.date))
    #expect(playlist.turns.map(\.size) == ["320x180", "180x320"])
    #expect(playlist.turns.map(\.from) == ["portrait", playlist.turns[0].to])
    #expect(playlist.turns.allSatisfy { $0.reason == "device" })
    // All files in the playlist exist, and there are no others.
    let named = playlist.maps + playlist.segments.map(\.file) + ["out.m3u8"]
    #expect(scratch.names == named.sorted())
    // Each initialization segment has the size of its format.
    for (map, width) in zip(playlist.maps, [180, 320, 180]) {
      let video = try FFmpegTool.streams(scratch.path(map), "video").first
      #expect(video?["width"].int == width)
    }
  }

  @Test(
    "A container with a fixed size rejects following, with a remedy",
    arguments: [
      "out.mkv", "out.webm", "out.y4m",
    ])
  func refused(_ name: String) throws {
    let scratch = try Scratch()
    let error = try #require(throws: UprightError.self) {
      try Self.make(Output(name: name, grain: 0), in: scratch)
    }
    #expect(error.code == .usage)
    #expect(error.remedy.contains("--canvas"))
    #expect(error.remedy.contains("--split") == !name.hasSuffix("y4m"))
    #expect(scratch.names.isEmpty)
  }
}
