import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Interlaced frames: kept if the output preserves lines, deinterlaced if it does not.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct InterlacedTests {
  /// Encodes 50 fields per second as 25 interlaced frames of 160x96: a white bar that moves 4 samples per
  /// field over grey, which makes combing easy to measure.
  private static func source(
    _ scratch: Scratch, topFirst: Bool = true, frames: Int = 10, name: String = "source.mp4"
  ) throws -> String {
    let path = scratch.path(name)
    let order = topFirst ? "tff" : "bff"
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "color=gray:s=160x96:r=50:d=\(Double(frames) / 25)", "-f", "lavfi", "-i",
      "color=white:s=24x96:r=50", "-filter_complex",
      "[0][1]overlay=x='16+n*4':shortest=1,interlace=scan=\(order):lowpass=off,setfield=\(order)",
      "-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "0", "-flags", "+ildct+ilme", "-x264-params",
      topFirst ? "tff=1" : "bff=1", path,
    ])
    return path
  }

  /// Returns the mean difference of neighbouring samples along x and along y in a frame.
  private static func roughness(_ path: String, _ frame: Int) throws -> (x: Double, y: Double) {
    let bytes = try [UInt8](
      FFmpegTool.run([
        "-i", path, "-vf", "select=eq(n\\,\(frame)),format=gray", "-frames:v", "1", "-f",
        "rawvideo", "-",
      ]))
    let video = try #require(try FFmpegTool.streams(path, "video").first)
    let (width, height) = (try #require(video["width"].int), try #require(video["height"].int))
    try #require(bytes.count == width * height)
    var (x, y) = (0, 0)
    for row in 1..<height {
      for column in 1..<width {
        let here = Int(bytes[row * width + column])
        x += abs(here - Int(bytes[row * width + column - 1]))
        y += abs(here - Int(bytes[(row - 1) * width + column]))
      }
    }
    return (Double(x) / Double(width * height), Double(y) / Double(width * height))
  }

  private static func fields(_ path: String) throws -> [[Int?]] {
    try FFmpegTool.frames(path).map {
      [$0.json["interlaced_frame"].int, $0.json["top_field_first"].int]
    }
  }

  @Test(
    "A quarter turn and scaling deinterlace the frames", .long,
    arguments: Loop.cases(
      [
        (ImageOrientation.right, nil), (.up, PixelSize(120, 72)), (.leftMirrored, nil),
        (.down, PixelSize(320, 192)),
      ] as [(ImageOrientation, PixelSize?)], test: 2), [true, false])
  func deinterlaced(_ test: (ImageOrientation, PixelSize?), _ topFirst: Bool) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, topFirst: topFirst)
    #expect(try Self.fields(input).first == [1, topFirst ? 1 : 0])
    // The bar is vertical, so combing shows as differences along y.
    #expect(try Self.roughness(input, 5).y > 2)
    try DisplayMatrixPatch.apply(test.0, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.rate = .constantQuality(4)
      $0.size = test.1.map { .pair($0) }
    }
    #expect(run.result.output.frames == 10)
    let before = try FFmpegTool.frames(input)
    let after = try FFmpegTool.frames(run.path)
    #expect(after.map(\.time) == before.map(\.time))
    #expect(after.allSatisfy { $0.json["interlaced_frame"].int == 0 })
    for frame in [0, 1, 5, 9] {
      let left = try Self.roughness(run.path, frame)
      let along = test.0.swapsAxes ? left.x : left.y
      #expect(along < 0.7, "frame \(frame): \(left)")
    }
    // Each frame shows its first field, at the same position.
    let filter = "bwdif=mode=send_frame:deint=interlaced"
    let (width, height) = (after[0].width, after[0].height)
    let ratios = try FFmpegTool.ratios(
      inputs: ["-noautorotate", "-i", input, "-i", run.path],
      graph: "[0]\(filter),\(ExactTurnTests.filter(test.0)),scale=\(width):\(height):flags=bicubic,"
        + "format=yuv420p[a];[1]format=yuv420p[b]")
    #expect(ratios.count == 10)
    #expect(ratios.worst.luma > 35, "\(ratios.worst)")
  }

  @Test(
    "A turn that keeps lines keeps the fields and updates their order", .long,
    arguments: [
      (ImageOrientation.up, true), (.upMirrored, true), (.down, false), (.downMirrored, false),
    ])
  func exact(_ orientation: ImageOrientation, _ keepsOrder: Bool) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch)
    try DisplayMatrixPatch.apply(orientation, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mov")) {
      $0.rate = .constantQuality(0)
    }
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(["tt", "tb"].contains(video["field_order"].string) == keepsOrder)
    #expect(["bb", "bt"].contains(video["field_order"].string) == !keepsOrder)
    #expect(try Self.fields(run.path) == Array(repeating: [1, keepsOrder ? 1 : 0], count: 10))
    let ratios = try FFmpegTool.ratios(
      inputs: ["-noautorotate", "-i", input, "-i", run.path],
      graph: "[0]\(ExactTurnTests.filter(orientation))[a];[1]null[b]")
    #expect(ratios.count == 10 && ratios.lowest.luma == .infinity && ratios.lowest.cb == .infinity)
    // Y4M has the field order in its header.
    let raw = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(try Y4M(path: raw.path).fields["I"] == (keepsOrder ? "t" : "b"))
  }

  @Test("Frames are deinterlaced for a codec without fields")
  func hevc() throws {
    let scratch = try Scratch()
    let run = try Transcoded(try Self.source(scratch), to: scratch.path("out.mp4")) {
      $0.codec = .hevc
      $0.quick()
    }
    #expect(run.result.output.frames == 10)
    #expect(try Self.roughness(run.path, 5).y < 0.7)
  }

  @Test("Files of one, two and three frames lose no frame", .long, arguments: [1, 2, 3])
  func short(_ frames: Int) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, frames: frames)
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mp4"))
    #expect(run.result.output.frames == frames)
    #expect(
      try FFmpegTool.frames(run.path).compactMap(\.time)
        == FFmpegTool.frames(input).compactMap(\.time))
  }

  @Test("Progressive and interlaced parts, and a change of size, in one file", .long)
  func mixed() throws {
    let scratch = try Scratch()
    var joined = Data()
    let progressive = scratch.path("progressive.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=160x96:r=25:d=0.2 -pix_fmt yuv420p -c:v libx264 -qp 4", [progressive])
    let small = scratch.path("small.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=25:d=0.2 -pix_fmt yuv420p -flags +ildct -c:v libx264 -qp 4",
      [small])
    for (index, file) in [
      try Self.source(scratch, frames: 5), progressive, small, try Self.source(scratch, frames: 4),
    ].enumerated() {
      let piece = scratch.path("\(index).ts")
      try FFmpegTool.run(["-i", file, "-c", "copy", piece])
      joined += try Data(contentsOf: URL(fileURLWithPath: piece))
    }
    let input = scratch.path("joined.ts")
    try joined.write(to: URL(fileURLWithPath: input))
    let expected = try FFmpegTool.frames(input).count
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.size = .pair(PixelSize(120, 72))
      $0.canvas = .landscape
    }
    #expect(run.result.output.frames == expected)
    let after = try FFmpegTool.frames(run.path)
    #expect(after.count == expected)
    #expect(after.allSatisfy { $0.json["interlaced_frame"].int == 0 })
    #expect(try Self.roughness(run.path, 3).y < 0.9)
  }

  @Test(
    "A real interlaced clip, rotated and scaled",
    .clips("interlaced/test1.mp4"))
  func real() throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/interlaced/test1.mp4").path
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.size = .pair(PixelSize(180, 320))
      $0.quick()
    }
    let before = try FFmpegTool.frames(input)
    let after = try FFmpegTool.frames(run.path)
    #expect(before.count == after.count && run.result.output.frames == before.count)
    #expect(after.allSatisfy { $0.json["interlaced_frame"].int == 0 })
    #expect(zip(before, after).allSatisfy { abs(($0.time ?? 0) - ($1.time ?? 1)) < 2e-6 })
  }
}
