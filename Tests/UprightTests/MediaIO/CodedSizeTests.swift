import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Files whose frames change their size, pixel format or codec in mid-stream.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct CodedSizeTests {
  /// Encodes a file of `frames` frames at 25 frames per second.
  private static func part(
    _ scratch: Scratch, _ codec: String, _ size: String, _ frames: Int, format: String = "yuv420p",
    container: String = "mkv", gop: Int = 100, from start: Double = 0
  ) throws -> String {
    let path = scratch.path("\(UUID().uuidString).\(container)")
    let speed: [String: [String]] = [
      "libx264": ["-preset", "ultrafast", "-bf", "0"],
      "libx265": ["-preset", "ultrafast", "-x265-params", "log-level=none:bframes=0"],
      "libaom-av1": ["-cpu-used", "8"], "libvpx": ["-deadline", "realtime"],
      "libvpx-vp9": ["-deadline", "realtime", "-cpu-used", "8"],
    ]
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i", "testsrc2=s=\(size):r=25", "-frames:v", "\(frames)", "-pix_fmt",
        format,
      ]
        + ["-c:v", codec, "-g", "\(gop)"] + (speed[codec] ?? [])
        + ["-muxdelay", "0", "-output_ts_offset", "\(start)", path])
    return path
  }

  /// Concatenates several files into one.
  private static func joined(
    _ scratch: Scratch, _ codec: String, _ sizes: [(String, Int)]
  ) throws -> String {
    let list = scratch.path("\(UUID().uuidString).txt"),
      path = scratch.path("\(UUID().uuidString).mkv")
    let parts = try sizes.map { try part(scratch, codec, $0.0, $0.1) }
    try parts.map { "file \($0)\n" }.joined().write(toFile: list, atomically: true, encoding: .utf8)
    try FFmpegTool.run(["-f", "concat", "-safe", "0", "-i", list, "-c", "copy", path])
    return path
  }

  private static func transportStream(
    _ scratch: Scratch, _ parts: [(codec: String, size: String, frames: Int, format: String)]
  ) throws -> String {
    var bytes = Data()
    var start = 0.0
    for part in parts {
      let path = try Self.part(
        scratch, part.codec, part.size, part.frames, format: part.format, container: "ts",
        from: start)
      bytes += try Data(contentsOf: URL(fileURLWithPath: path))
      start += Double(part.frames) / 25
    }
    let path = scratch.path("\(UUID().uuidString).ts")
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func probe(_ path: String) throws -> [JSON] {
    let probe = try Probe(input: path)
    return try JSONDecoder().decode(JSON.self, from: Data(probe.json.compact.utf8))["signals"].array
  }

  @Test(
    "A change of the coded size is listed at its frame without decoding", .long,
    arguments: ["libx264", "libvpx", "libvpx-vp9", "libaom-av1", "mpeg2video"])
  func listed(_ codec: String) throws {
    let scratch = try Scratch()
    let path = try Self.joined(scratch, codec, [("96x64", 10), ("64x96", 5)])
    let signals = try Self.probe(path)
    #expect(signals.map { $0["source"].string } == ["size"])
    #expect(signals.map { $0["frame"].int } == [10])
    #expect(signals.map { $0["width"].int } == [64] && signals.map { $0["height"].int } == [96])
    #expect(abs((signals.first?["at"].double ?? 0) - 0.4) < 0.002)
  }

  @Test("A change of the coded size in HEVC with in-band parameter sets is listed")
  func hevc() throws {
    let scratch = try Scratch()
    let path = try Self.transportStream(
      scratch, [("libx265", "96x64", 10, "yuv420p"), ("libx265", "64x96", 5, "yuv420p")])
    let signals = try Self.probe(path)
    #expect(signals.map { $0["frame"].int } == [10])
    #expect(signals.map { $0["height"].int } == [96])
  }

  @Test(
    "The majority canvas is determined from the coded sizes", .long,
    arguments: ["libx264", "libvpx-vp9"])
  func majority(_ codec: String) throws {
    let scratch = try Scratch()
    for (wide, tall, expected) in [(5, 12, [64, 96]), (12, 5, [96, 64])] {
      let path = try Self.joined(scratch, codec, [("96x64", wide), ("64x96", tall)])
      let run = try Transcoded(path, to: scratch.path("\(wide).y4m"))
      let file = try Y4M(path: run.path)
      #expect([file.width, file.height] == expected, "\(wide) wide, \(tall) tall")
      #expect(file.count == 17)
    }
  }

  @Test("A change to a width of 16384 is followed, and no frame is lost")
  func huge() throws {
    let scratch = try Scratch()
    let path = try Self.transportStream(
      scratch, [("libx264", "96x64", 5, "yuv420p"), ("libx264", "16384x16", 2, "yuv420p")])
    #expect(try Self.probe(path).map { $0["width"].int } == [16384])
    let run = try Transcoded(path, to: scratch.path("out.y4m"))
    #expect(run.result.output.frames == 7)
  }

  @Test("A keyframe with a width of 0 counts as damage, and the other frames are decoded")
  func nothing() throws {
    let scratch = try Scratch()
    let source = try Self.part(scratch, "libvpx", "96x64", 10, container: "ivf", gop: 5)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
    // A complete keyframe with width 0 after the first one (RFC 6386, 9.1).
    let size = bytes[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) }
    var frame = Array(bytes[32..<44 + size])
    frame[12 + 6] = 0
    frame[12 + 7] = 0
    bytes.insert(contentsOf: frame, at: 44 + size)
    let path = scratch.path("zero.ivf")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let run = try Transcoded(path, to: scratch.path("out.y4m"))
    // Nothing can be decoded up to the next keyframe. Everything can from there on.
    #expect(run.result.output.frames >= 6)
    #expect(run.result.warnings.contains { $0.contains("could not be decoded") })
    #expect(try Self.probe(path).allSatisfy { $0["width"].int != 0 })
  }

  @Test("After a change of the pixel format, every frame is decoded")
  func format() throws {
    let scratch = try Scratch()
    let path = try Self.transportStream(
      scratch,
      [
        ("libx264", "96x64", 5, "yuv420p"), ("libx264", "96x64", 5, "yuv444p"),
        ("libx264", "96x64", 5, "yuv420p10le"),
      ])
    let run = try Transcoded(path, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(run.result.output.frames == 15)
    #expect(try FFmpegTool.frames(run.path).count == 15)
  }

  @Test("After a change of the codec, the loss of frames is reported in a warning")
  func codec() throws {
    let scratch = try Scratch()
    let path = try Self.transportStream(
      scratch, [("libx264", "96x64", 10, "yuv420p"), ("mpeg2video", "96x64", 5, "yuv420p")])
    let run = try Transcoded(path, to: scratch.path("out.mp4")) { $0.quick() }
    #expect(run.result.output.frames >= 10)
    figure("codec change: \(run.result.output.frames) frames, \(run.result.warnings)")
    #expect(run.result.output.frames == 15 || !run.result.warnings.isEmpty)
  }
}
