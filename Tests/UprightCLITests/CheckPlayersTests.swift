import Foundation
import Testing
import UprightTestSupport

/// What `upright check` says of the classes `file` and `hls` is what players do. Costs half a minute.
@Suite("Players do what check says of them", .serialized)
struct CheckPlayersTests {
  /// The mean colours of the 16 parts of a picture.
  private static func colours(_ path: String, _ options: [String] = []) throws -> [UInt8] {
    let filter = ["-frames:v", "1", "-vf", "scale=4:4:flags=area", "-pix_fmt", "rgb24"]
    return [UInt8](try FFmpegTool.run(["-i", path] + options + filter + ["-f", "rawvideo", "-"]))
  }

  /// Whether two pictures are the same but for the coding.
  private static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == 48 && other.count == 48
      && zip(one, other).allSatisfy { abs(Int($0) - Int($1)) < 24 }
  }

  private static func clip() throws -> EncodedClip {
    try EncodedClip(.h264, frames: 25, gop: 25, bFrames: 0, size: .init(320, 192))
  }

  /// What Chromium shows of a file in the middle.
  private static func colours(inChromium name: String, of scratch: Scratch) throws -> [UInt8] {
    let pictures = try Scratch()
    let (status, said) = try Player.chromium.play([
      scratch.folder.path, name, "--snapshot", "0.5", "--out", pictures.folder.path,
    ])
    #expect(status == 0, "\(said["error"])")
    return try colours(#require(said["snapshots"][0]["file"].string))
  }

  /// The same of the frames without a signal: its colours are a little different from FFmpeg's.
  private static let storedInChromium = Result {
    let scratch = try Scratch()
    try clip().movie.write(to: scratch.path("clip.mp4"))
    return try colours(inChromium: "clip.mp4", of: scratch)
  }

  /// Files whose frames are the same, with one signal each. Chromium doesn't open the last ones.
  private static let files = [
    "right.mp4", "rightMirrored.mp4", "tilted.mp4", "right.mkv", "upMirrored.mkv", "tag.mkv",
    "sei.mp4", "mebx.mov", "right.flv",
  ]

  private static func make(_ name: String, in scratch: Scratch) throws -> String {
    let clip = scratch.path("clip.mp4")
    let path = scratch.path(name)
    let word = name.split(separator: ".")[0]
    var encoded = try Self.clip()
    try encoded.movie.write(to: clip)
    switch name {
    case "tilted.mp4":
      _ = try scratch.copy(clip, as: name)
      try DisplayMatrixPatch.apply(clockwiseDegrees: 30, to: path)
    case "sei.mp4":
      encoded.insert(nal: EncodedClip.displayOrientation(16384), atShown: 0)
      try encoded.movie.write(to: path)
    case "mebx.mov":
      var movie = encoded.movie
      movie.tracks.append(.orientation([(at: 0, exif: 6)]))
      try movie.write(to: path)
    case "tag.mkv":
      // FFmpeg would make a projection of it.
      try FFmpegTool.run(["-i", clip, "-c", "copy", "-metadata:s:v", "rotatx=90", path])
      var bytes = try bytes(path)
      let place = try #require(bytes.range(of: Data("ROTATX".utf8)))
      bytes.replaceSubrange(place, with: Data("ROTATE".utf8))
      try bytes.write(to: URL(fileURLWithPath: path))
    default:
      let run = try Upright.run(["tag", clip, "-o", path, "--orientation", String(word), "-q"])
      #expect(run.status == 0, "\(run.errors)")
    }
    return path
  }

  @Test(
    "Chromium and FFmpeg play files", .plays(.ffmpeg, .chromium), .browser,
    arguments: Loop.cases(files, test: 9))
  func file(_ name: String) throws {
    let scratch = try Scratch()
    let path = try Self.make(name, in: scratch)
    let stored = try Self.colours(scratch.path("clip.mp4"), ["-ss", "0.5"])
    var honoured = [!Self.areSame(try Self.colours(path, ["-ss", "0.5"]), stored)]
    if !name.hasSuffix(".flv") {
      let shown = try Self.colours(inChromium: name, of: scratch)
      honoured.append(!Self.areSame(shown, try Self.storedInChromium.get()))
    }
    let entry = try Upright.run(["check", "--json", path]).json["files"][0]
    #expect(entry["signals"].array.count == 1, "\(entry)")
    let agreed = honoured.allSatisfy { $0 == honoured[0] }
    let expected = agreed ? (honoured[0] ? "upright" : "wrong") : "unknown"
    #expect(entry["classes"]["file"].string == expected, "\(name): \(honoured)")
  }

  @Test(
    "HLS of copied packets is shown as it is coded", .plays(.ffmpeg, .gstreamer), .long,
    arguments: ["right.mp4", "right.mkv", "sei.mp4"])
  func copied(_ name: String) throws {
    let scratch = try Scratch()
    let path = try Self.make(name, in: scratch)
    try FFmpegTool.run([
      "-i", path, "-c", "copy", "-f", "hls", "-hls_playlist_type", "vod", scratch.path("out.m3u8"),
    ])
    let shown = try Self.colours(scratch.path("out.m3u8"), ["-ss", "0.5"])
    #expect(Self.areSame(shown, try Self.colours(scratch.path("clip.mp4"), ["-ss", "0.5"])))
    let (status, said) = try Player.gstreamer.play([scratch.path("out.m3u8")])
    #expect(status == 0, "\(said)")
    #expect(
      said["sizes"][0]["width"].int == 320 && said["sizes"][0]["height"].int == 192, "\(said)")
    let entry = try Upright.run(["check", "--json", path]).json["files"][0]
    #expect(entry["classes"]["hls"].string == "wrong")
  }
}
