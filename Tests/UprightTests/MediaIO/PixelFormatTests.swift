import Foundation
import UprightOrientation
import UprightKernels
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Frames with alpha, with changing pixel formats or pixel aspect ratios, or with unusual chroma or range.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PixelFormatTests {
  /// Returns the RGB value of a point of a frame, as decoded by FFmpeg.
  static func colour(_ path: String, _ x: Int, _ y: Int, frame: Int = 0) throws -> [Int] {
    try FFmpegTool.run([
      "-noautorotate", "-i", path, "-vf",
      "select=eq(n\\,\(frame)),scale=flags=accurate_rnd+full_chroma_int,format=rgb24,crop=1:1:\(x):\(y):exact=1",
      "-frames:v", "1", "-f", "rawvideo", "-",
    ]).map { Int($0) }
  }

  static func expect(
    _ path: String, _ x: Int, _ y: Int, frame: Int = 0, is expected: [Int], within: Int,
    _ words: String = ""
  ) throws {
    let found = try colour(path, x, y, frame: frame)
    let worst = zip(found, expected).map { abs($0 - $1) }.max() ?? 255
    #expect(worst <= within, "\(words) (\(x), \(y)): \(found), not \(expected)")
  }

  struct Coding: CustomTestStringConvertible, Sendable {
    let name: String
    let format: String
    let coder: String
    var testDescription: String { "\(coder) \(format)" }
  }

  @Test(
    "Transparent frames are blended with the background, and turned", .long,
    arguments: [
      Coding(name: "png.mov", format: "rgba", coder: "png"),
      Coding(name: "deep.mov", format: "rgba64be", coder: "png"),
      Coding(name: "prores.mov", format: "yuva444p10le", coder: "prores_ks -profile:v 4"),
      Coding(name: "ffv1.mkv", format: "yuva420p", coder: "ffv1"),
      Coding(name: "ffv1.mkv", format: "yuva444p16le", coder: "ffv1"),
    ])
  func transparent(_ coding: Coding) throws {
    let scratch = try Scratch()
    let input = scratch.path(coding.name)
    // The left half is opaque, the next quarter has an alpha of 0.4, the last quarter is fully transparent.
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i",
        "color=black:s=64x48:r=25:d=0.08,format=rgba,"
          + "geq=r='if(lt(X,32),200,40)':g='if(lt(X,32),60,120)':b='if(lt(X,32),40,220)'"
          + ":a='if(lt(X,32),255,if(lt(X,48),102,0))'",
        "-pix_fmt", coding.format, "-c:v",
      ] + coding.coder.words + [input])
    let isTurned = coding.name.hasSuffix("mov")
    if isTurned { try DisplayMatrixPatch.apply(.right, to: input) }
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.background = RGBColour(red: 250, green: 200, blue: 10)
      $0.codec = .h264
      $0.rate = .constantQuality(0)
    }
    #expect(run.result.warnings.contains { $0.contains("transparent") }, "\(run.result.warnings)")
    // 40 * 0.4 + 250 * 0.6, and so on.
    for (x, expected) in [(15, [200, 60, 40]), (40, [166, 168, 94]), (56, [250, 200, 10])] {
      let (px, py) = isTurned ? (24, x) : (x, 24)
      try Self.expect(run.path, px, py, is: expected, within: 4, coding.testDescription)
    }
  }

  @Test("Opaque frames in a format with alpha are unchanged, without a warning")
  func opaque() throws {
    let scratch = try Scratch()
    let input = scratch.path("opaque.mov")
    try FFmpegTool.run("-f lavfi -i color=0x286edc:s=64x48:d=0.08 -c:v png -pix_fmt rgba", [input])
    let run = try Transcoded(input, to: scratch.path("out.mp4")) { $0.rate = .constantQuality(0) }
    #expect(run.result.warnings.isEmpty, "\(run.result.warnings)")
    try Self.expect(run.path, 32, 24, is: [0x28, 0x6E, 0xDC], within: 4)
  }

  /// Concatenates two files of ten frames each.
  private static func joined(
    _ scratch: Scratch, _ first: (graph: String, format: String),
    _ second: (graph: String, format: String)
  ) throws -> String {
    var bytes = Data()
    for (index, part) in [first, second].enumerated() {
      let path = scratch.path("part\(index).ts")
      try FFmpegTool.run([
        "-f", "lavfi", "-i", part.graph, "-frames:v", "10", "-pix_fmt", part.format, "-c:v",
        "libx264", "-qp", "4", "-bf", "0", "-muxdelay", "0", "-output_ts_offset",
        "\(Double(index) * 0.4)", path,
      ])
      bytes += try Data(contentsOf: URL(fileURLWithPath: path))
    }
    let path = scratch.path("joined.ts")
    try bytes.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("A change of the pixel aspect ratio in mid-stream takes effect at that frame")
  func shapeChanges() throws {
    let scratch = try Scratch()
    let white = "color=white:s=64x64:r=25"
    let input = try Self.joined(
      scratch, ("\(white),setsar=1", "yuv420p"), ("\(white),setsar=2", "yuv420p"))
    let run = try Transcoded(input, to: scratch.path("out.y4m")) {
      $0.size = .pair(PixelSize(64, 64))
    }
    let pictures = try Y4M(path: run.path)
    #expect(pictures.count == 20)
    #expect(run.report["formats"].array.map { $0["first_frame"].int } == [0, 10])
    for frame in 0..<pictures.count {
      // At twice the width, the frame leaves a quarter free above and below.
      let edge = pictures.sample(frame: frame, plane: 0, x: 32, y: 4)
      let inside = pictures.sample(frame: frame, plane: 0, x: 32, y: 32)
      #expect(abs(edge - (frame < 10 ? 235 : 16)) <= 2, "frame \(frame)")
      #expect(abs(inside - 235) <= 2, "frame \(frame)")
    }
  }

  @Test(
    "A change of the pixel format in mid-stream does not change the colours", .long,
    arguments: [("yuv420p", "yuv422p"), ("yuv422p", "yuv420p"), ("yuv420p", "yuv444p10le")])
  func formatChanges(_ first: String, _ second: String) throws {
    let scratch = try Scratch()
    let input = try Self.joined(
      scratch, ("color=0xc83c28:s=64x48:r=25", first), ("color=0x2878dc:s=64x48:r=25", second))
    for name in ["out.mp4", "out.mkv"] {
      let run = try Transcoded(input, to: scratch.path(name)) { $0.rate = .constantQuality(4) }
      #expect(try FFmpegTool.frames(run.path).count == 20)
      for (frame, colour) in [
        (0, [0xC8, 0x3C, 0x28]), (9, [0xC8, 0x3C, 0x28]), (10, [0x28, 0x78, 0xDC]),
        (19, [0x28, 0x78, 0xDC]),
      ] {
        try Self.expect(run.path, 30, 20, frame: frame, is: colour, within: 6, "\(name) \(frame)")
      }
    }
  }

  @Test(
    "A quarter turn of 4:2:2 and full range keeps the colours and the range tag",
    .long,
    arguments: ["yuv422p", "yuvj420p", "yuvj422p"], [VideoCodec.h264, .hevc])
  func turned(_ format: String, _ codec: VideoCodec) throws {
    let scratch = try Scratch()
    let input = scratch.path("source.mp4")
    let isFull = format.hasPrefix("yuvj")
    try FFmpegTool.run([
      "-f", "lavfi", "-i",
      "color=0xe02020:s=96x64:r=25:d=0.12,"
        + "drawbox=48:0:48:32:0x20c020:fill,drawbox=0:32:48:32:0x2020e0:fill,"
        + "drawbox=48:32:48:32:0xf0f0f0:fill,scale=out_color_matrix=bt709:out_range=\(isFull ? "pc" : "tv")",
      "-pix_fmt", format, "-colorspace", "bt709", "-color_range", isFull ? "pc" : "tv", "-c:v",
      "libx264", "-qp", "1", input,
    ])
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.codec = codec
      $0.rate = .constantQuality(2)
    }
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["width"].int == 64 && video["height"].int == 96)
    #expect((video["color_range"].string == "pc") == isFull, "\(video["color_range"])")
    #expect(video["color_space"].string == "bt709")
    // Clockwise: the lower left corner moves to the upper left.
    for (x, y, from) in [
      (16, 24, (24, 48)), (48, 24, (24, 16)), (48, 72, (72, 16)), (16, 72, (72, 48)),
    ] {
      let colour = try Self.colour(input, from.0, from.1)
      try Self.expect(run.path, x, y, is: colour, within: 6, "\(format) \(codec)")
    }
  }
}
