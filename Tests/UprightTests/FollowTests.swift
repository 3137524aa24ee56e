import Foundation
import MediaIO
import Orientation
import RotationPolicy
import Testing
import Upright
import UprightTestSupport

/// The size of the stream follows the app: every player must show 300 frames, in order, upright, and
/// the change at frames 100 and 200.
@Suite(.enabled(if: Needs.ffmpeg && Needs.python, "needs ffmpeg and python3"), .serialized)
struct FollowTests {
  struct Output: CustomTestStringConvertible, Sendable {
    let name: String
    /// How far a PTS may be off, in seconds: the container's grain.
    let grain: Double
    /// Where the first frame stands, in seconds; nil: anywhere.
    var start: Double? = 0
    var testDescription: String { name }
  }

  static let outputs = [
    // No timestamp may be negative there: reordering shifts the whole by a constant.
    Output(name: "out.m3u8", grain: 1e-6, start: nil),
    Output(name: "out.mp4", grain: 1e-6),
    Output(name: "out.mov", grain: 1e-6),
    Output(name: "out.ts", grain: 1.0 / 90_000, start: nil),
    Output(name: "out.flv", grain: 0.00101, start: nil),
  ]

  /// The turning phone in the container that `name` says, once for all tests.
  private static func make(_ name: String, in scratch: Scratch) throws -> Transcoded {
    try Transcoded(
      Samples.turning, to: scratch.path(name), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.canvas = .follow
      $0.size = .pair(PixelSize(360, 640))
    }
  }

  @Test("FFmpeg shows every frame once, upright, and both changes", arguments: outputs)
  func ffmpeg(_ output: Output) throws {
    let scratch = try Scratch()
    let run = try Self.make(output.name, in: scratch)
    #expect(run.result.frames == 300)
    #expect(run.result.formats == ["360x640", "640x360", "360x640"])
    let formats = run.report["formats"].array
    #expect(formats.map { $0["first_frame"].int } == [0, 100, 200])
    #expect(formats.map { $0["encodeResolution"].string } == ["360x640", "640x360", "360x640"])

    let (status, said) = try Player.ffmpeg.play([run.path])
    #expect(status == 0, "\(said["error"])")
    #expect(said["frames"].int == 300)
    #expect(said["numbers"].ints == Array(0..<300))
    #expect(said["lost"].array.isEmpty && said["repeated"].array.isEmpty)
    #expect(said["unordered"].int == 0 && said["backwards"].int == 0)
    #expect(said["sizes"].array.map { $0["frame"].int } == [0, 100, 200])
    #expect(said["sizes"].array.map { $0["width"].int } == [360, 640, 360])
    #expect(said["lies"].array.map { $0["orientation"].int } == [1])

    // Times: the source's, 1/30 s each, however they are shifted as a whole.
    let times = said["times"].doubles
    try #require(times.count == 300)
    let start = output.start ?? times[0]
    let worst = times.enumerated().map { abs($1 - start - Double($0) / 30) }.max() ?? 1
    #expect(worst <= output.grain + 1e-6, "off by \(worst) s")
  }

  @Test(
    "decoding times rise strictly and never pass the PTS; each format begins with an IDR",
    arguments: outputs)
  func decodingTimes(_ output: Output) throws {
    let scratch = try Scratch()
    let run = try Self.make(output.name, in: scratch)
    let packets = try FFmpegTool.packets(run.path, "v:0")
    #expect(packets.count == 300)
    let dts = packets.compactMap(\.dts)
    #expect(dts.count == 300)
    #expect(zip(dts, dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(packets.allSatisfy { ($0.dts ?? 0) <= ($0.pts ?? 0) })
    // In decoding order the first packet of a format is its IDR, at 100 and 200 as well.
    for index in [0, 100, 200] where packets.indices.contains(index) {
      #expect(packets[index].isKey, "packet \(index)")
      #expect(packets[..<index].allSatisfy { ($0.pts ?? 0) < (packets[index].pts ?? 0) })
    }
  }

  @Test(
    "GStreamer shows every frame and both changes",
    .enabled(
      if: Player.gstreamer.isHere, "needs GStreamer"), arguments: outputs)
  func gstreamer(_ output: Output) throws {
    let scratch = try Scratch()
    let run = try Self.make(output.name, in: scratch)
    let (status, said) = try Player.gstreamer.play([run.path])
    #expect(status == 0, "\(said["error"])")
    #expect(said["frames"].int == 300)
    #expect(said["backwards"].int == 0)
    let sizes = said["sizes"].array
    #expect(sizes.map { $0["width"].int } == [360, 640, 360])
    let first = said["times"].doubles.first ?? 0
    for (size, frame) in zip(sizes, [0.0, 100, 200]) {
      #expect(abs((size["at"].double ?? -1) - first - frame / 30) < 0.002, "\(size)")
    }
  }

  @Test(
    "Chromium plays it through, upright",
    .enabled(
      if: Player.chromium.isHere, "needs Chromium"), arguments: ["out.m3u8", "out.mp4"])
  func chromium(_ name: String) throws {
    let scratch = try Scratch()
    _ = try Self.make(name, in: scratch)
    let pictures = try Scratch()
    let (status, said) = try Player.chromium.play([
      scratch.folder.path, name, "--rate", "4", "--snapshot", "1.5,3.31,3.35,6.64,6.69,8.5",
      "--out",
      pictures.folder.path,
    ])
    #expect(status == 0, "\(said["error"])")
    #expect(said["ended"].bool == true)
    #expect(abs((said["duration"].double ?? 0) - 10) < 0.1)
    let sizes = said["sizes"].array
    #expect(sizes.map { $0["width"].int } == [360, 640, 360], "\(sizes)")
    // How many frames reach the screen in time is the machine's matter: which size a frame has is
    // asked by seeking, to the frames on both sides of each turn.
    #expect(said["totalVideoFrames"].int ?? 0 > 200)
    let snapshots = said["snapshots"].array
    #expect(snapshots.map { $0["width"].int } == [360, 360, 640, 640, 360, 360])
    for snapshot in snapshots {
      let file = try #require(snapshot["file"].string)
      try Self.checkCorners(
        file.hasPrefix("/") ? file : pictures.path(file),
        PixelSize(snapshot["width"].int ?? 0, snapshot["height"].int ?? 0))
    }
  }

  /// Red top left, green top right, blue bottom left, yellow bottom right: upright and unmirrored.
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

  @Test("the playlist names three formats, two discontinuities, a map each")
  func playlist() throws {
    let scratch = try Scratch()
    let run = try Self.make("out.m3u8", in: scratch)
    let playlist = try Playlist(path: run.path)
    #expect(playlist.maps == ["out-init-0.mp4", "out-init-1.mp4", "out-init-2.mp4"])
    #expect(playlist.discontinuities == 2)
    #expect(playlist.isEnded)
    #expect(playlist.version >= 6)
    // Cut at the frames of the turns, and nowhere else in ten seconds of six-second segments.
    #expect(playlist.segments.count == 3)
    for (segment, length) in zip(playlist.segments, [100.0 / 30, 100.0 / 30, 100.0 / 30]) {
      #expect(abs(segment.duration - length) < 1e-3, "\(segment)")
      #expect(segment.duration.rounded() <= Double(playlist.targetDuration))
    }
    #expect(playlist.segments.map(\.map) == playlist.maps)
    #expect(playlist.segments.map(\.isDiscontinuous) == [false, true, true])
    // All that is named is there, and nothing else is.
    let named = playlist.maps + playlist.segments.map(\.file) + ["out.m3u8"]
    #expect(scratch.names == named.sorted())
    // Each init segment says its own size.
    for (map, width) in zip(playlist.maps, [360, 640, 360]) {
      let video = try FFmpegTool.streams(scratch.path(map), "video").first
      #expect(video?["width"].int == width)
    }
  }

  @Test(
    "a fixed container refuses to follow, and says what to do instead",
    arguments: [
      "out.mkv", "out.webm", "out.y4m",
    ])
  func refused(_ name: String) throws {
    let scratch = try Scratch()
    let error = try #require(throws: MediaError.self) {
      try Self.make(name, in: scratch)
    }
    #expect(error.code == .usage)
    #expect(error.remedy.contains("--canvas"))
    #expect(scratch.names.isEmpty)
  }
}
