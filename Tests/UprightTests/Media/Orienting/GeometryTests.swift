import Foundation
import UprightOrientation
import UprightKernels
import Testing
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// Placement of frames on canvases: fit, anchor, background, pixel aspect ratio, odd and changing sizes.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct GeometryTests {
  private static func source(
    _ scratch: Scratch, _ graph: String, _ coding: String = "-c:v libx264 -qp 0 -pix_fmt yuv420p",
    name: String = "source.mp4"
  ) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", graph] + coding.words + [path])
    return path
  }

  private static func transcode(
    _ input: String, _ scratch: Scratch, _ configure: (inout TranscodeOptions) -> Void
  ) throws -> (run: Transcoded, picture: Y4M) {
    let run = try Transcoded(
      input, to: scratch.path("\(UUID().uuidString).y4m"), options: configure)
    return (run, try Y4M(path: run.path))
  }

  struct Background: CustomTestStringConvertible, Sendable {
    let hex: String
    let tags: String
    let pixel: [Int]
    var testDescription: String { "\(hex) \(tags)" }
  }

  // Y = 16 + 219 (Kr R + Kg G + Kb B), Cb = 128 + 224 (B - Y) / (2 (1 - Kb)), Cr likewise, computed by
  // hand.
  @Test(
    "The background beside the frame has its colour's exact values", .long,
    arguments: [
      Background(hex: "000000", tags: "-colorspace bt709", pixel: [16, 128, 128]),
      Background(hex: "FFFFFF", tags: "-colorspace bt709", pixel: [235, 128, 128]),
      Background(hex: "FF0000", tags: "-colorspace bt709", pixel: [63, 102, 240]),
      Background(hex: "FF0000", tags: "-colorspace smpte170m", pixel: [81, 90, 240]),
      Background(hex: "00FF00", tags: "-colorspace smpte170m", pixel: [145, 54, 34]),
      Background(hex: "00FF00", tags: "-colorspace bt709", pixel: [173, 42, 26]),
      Background(hex: "0000FF", tags: "-colorspace bt709", pixel: [32, 240, 118]),
      Background(hex: "336699", tags: "-colorspace bt709", pixel: [97, 156, 104]),
      // Without tags: BT.601, like libswscale.
      Background(hex: "336699", tags: "", pixel: [95, 158, 102]),
      Background(hex: "000000", tags: "-colorspace bt709 -color_range pc", pixel: [0, 128, 128]),
      Background(hex: "FFFFFF", tags: "-colorspace bt709 -color_range pc", pixel: [255, 128, 128]),
      Background(
        hex: "FF0000", tags: "-colorspace smpte170m -color_range pc", pixel: [76, 85, 255]),
    ])
  func background(_ test: Background) throws {
    let scratch = try Scratch()
    let input = try Self.source(
      scratch, "testsrc2=s=64x36:d=0.08", "-c:v libx264 -qp 0 -pix_fmt yuv420p \(test.tags)")
    let (run, picture) = try Self.transcode(input, scratch) {
      $0.canvas = .portrait
      $0.size = .pair(PixelSize(36, 64))
      $0.background = RGBColour(hex: test.hex) ?? .black
    }
    #expect(picture.width == 36 && picture.height == 64)
    let r = try run.rectangle(0, of: PixelSize(64, 36))
    #expect(r.width == 36 && r.height == 20 && r.y == 22)
    for (x, y) in [(0, 0), (35, 0), (0, 63), (35, 63), (17, r.y - 1), (17, r.y + r.height)] {
      let pixel = picture.pixel(frame: 1, x: x, y: y)
      // The expected values are rounded. A difference of one is allowed.
      #expect(
        zip(pixel, test.pixel).allSatisfy { abs($0 - $1) <= 1 }, "\(x), \(y): \(pixel)")
    }
    #expect(picture.pixel(frame: 1, x: 0, y: 0) == picture.pixel(frame: 0, x: 35, y: 63))
  }

  @Test("A 10-bit background keeps 10 bits")
  func deepBackground() throws {
    let scratch = try Scratch()
    let input = try Self.source(
      scratch, "testsrc2=s=64x36:d=0.08",
      "-c:v libx264 -qp 0 -pix_fmt yuv420p10le -colorspace bt709")
    let (_, picture) = try Self.transcode(input, scratch) {
      $0.canvas = .portrait
      $0.size = .pair(PixelSize(36, 64))
      $0.background = RGBColour(red: 255, green: 255, blue: 255)
    }
    #expect(picture.sampleBytes == 2)
    #expect(picture.pixel(frame: 0, x: 3, y: 3) == [940, 512, 512])
  }

  /// Red, green, blue and yellow quadrants like those of the scene, each a quarter of the frame.
  private static let quadrants =
    "color=black:s=160x90:r=25:d=0.08,format=gbrp,"
    + "geq=r='if(lt(Y,45),if(lt(X,80),224,32),if(lt(X,80),32,240))'"
    + ":g='if(lt(Y,45),if(lt(X,80),32,176),if(lt(X,80),64,208))'"
    + ":b='if(lt(Y,45),if(lt(X,80),32,64),if(lt(X,80),224,32))'"

  /// Returns the quadrant whose colour a pixel has. Empty if there is none.
  private static func quadrant(_ pixel: [Int]) -> String {
    let colours = [
      "red": [81, 98, 217], "green": [118, 102, 72], "blue": [69, 209, 105],
      "yellow": [194, 44, 152], "black": [16, 128, 128],
    ]
    return colours.first { zip($0.value, pixel).allSatisfy { abs($0 - $1) < 16 } }?.key ?? ""
  }

  struct FitCase: CustomTestStringConvertible, Sendable {
    let fit: Fit
    var anchor = Anchor.center
    /// The expected colours just inside the canvas's corners: top left, top right, bottom left, bottom
    /// right.
    let corners: [String]
    var testDescription: String { "\(fit) \(anchor)" }
  }

  @Test(
    "fit, fill and stretch, with anchors", .long,
    arguments: [
      FitCase(fit: .fit, corners: ["black", "black", "black", "black"]),
      FitCase(fit: .fit, anchor: .top, corners: ["red", "green", "black", "black"]),
      FitCase(fit: .fit, anchor: .bottomTrailing, corners: ["black", "black", "blue", "yellow"]),
      FitCase(fit: .stretch, corners: ["red", "green", "blue", "yellow"]),
      FitCase(fit: .fill, corners: ["red", "green", "blue", "yellow"]),
      FitCase(fit: .fill, anchor: .leading, corners: ["red", "red", "blue", "blue"]),
      FitCase(fit: .fill, anchor: .topTrailing, corners: ["green", "green", "yellow", "yellow"]),
    ])
  func fits(_ test: FitCase) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, Self.quadrants, "-c:v libx264 -qp 0 -pix_fmt yuv420p")
    // The same frame stored rotated, with a matrix, must give the same output.
    for orientation in [ImageOrientation.up, .right, .rightMirrored] {
      let lying = scratch.path("\(orientation).mp4")
      let back = ExactTurnTests.filter(orientation.inverse)
      try FFmpegTool.run([
        "-i", input, "-vf", back, "-c:v", "libx264", "-qp", "0", lying,
      ])
      try DisplayMatrixPatch.apply(orientation, to: lying)
      let (_, picture) = try Self.transcode(lying, scratch) {
        $0.canvas = .portrait
        $0.size = .pair(PixelSize(90, 160))
        $0.fit = test.fit
        $0.anchor = test.anchor
      }
      let inset = 4
      let corners = [
        (inset, inset), (89 - inset, inset), (inset, 159 - inset), (89 - inset, 159 - inset),
      ].map { Self.quadrant(picture.pixel(frame: 0, x: $0.0, y: $0.1)) }
      #expect(corners == test.corners, "stored \(orientation.name)")
    }
  }

  struct Shape: CustomTestStringConvertible, Sendable {
    let file: String
    /// The size that FFmpeg's conversion to square pixels gives.
    let width: Int
    let height: Int
    var testDescription: String { file }
  }

  @Test(
    "Non-square pixels become square without distortion", .long,
    .clips("odd-sar", "interlaced", "mpegts"),
    arguments: [
      Shape(file: "odd-sar/sar_2x1.mp4", width: 1280, height: 360),
      Shape(file: "odd-sar/par_2_3.mp4", width: 128, height: 108),
      Shape(file: "interlaced/test1.mp4", width: 660, height: 480),
      Shape(file: "mpegts/no-initial-keyframe.ts", width: 626, height: 352),
    ])
  func squarePixels(_ shape: Shape) throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/\(shape.file)").path
    let run = try Transcoded(input, to: scratch.path("out.mp4")) { $0.quick() }
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["width"].int == shape.width && video["height"].int == shape.height)
    #expect(["1:1", nil].contains(video["sample_aspect_ratio"].string))
    #expect(
      ["1:1", nil].contains(
        try FFmpegTool.frames(run.path).first?.json["sample_aspect_ratio"].string))
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", input, "-i", run.path],
      graph: "[0:v]scale=\(shape.width):\(shape.height):flags=bicubic,setsar=1,format=yuv420p[a];"
        + "[1:v]setsar=1[b]")
    figure("square pixels \(shape.file): \(ratios.worst.luma) dB")
    #expect(ratios.count == run.result.output.frames)
    #expect(ratios.worst.luma > 30, "\(ratios.worst)")
  }

  @Test("A quarter turn of wide pixels makes the frame taller, not narrower")
  func turnedPixelShape() throws {
    let scratch = try Scratch()
    let input = try Self.source(
      scratch, "testsrc2=s=160x120:r=25:d=0.08,setsar=2", "-c:v libx264 -qp 0 -pix_fmt yuv420p")
    try DisplayMatrixPatch.apply(.right, to: input)
    let (_, picture) = try Self.transcode(input, scratch) { _ in }
    #expect(picture.width == 120 && picture.height == 320)
    let ratios = try FFmpegTool.ratios(
      inputs: ["-noautorotate", "-i", input, "-f", "yuv4mpegpipe", "-i"]
        + [scratch.names.first { $0.hasSuffix("y4m") }.map { scratch.path($0) } ?? ""],
      graph:
        "[0]transpose=clock,scale=120:320:flags=bicubic+accurate_rnd,setsar=1[a];[1]setsar=1[b]")
    #expect(ratios.worst.luma > 35, "\(ratios.worst)")
  }

  @Test(
    "Odd sizes become even, complete and upright", .long,
    arguments: [
      (161, 121), (31, 17), (2, 2), (3, 3), (1, 1), (501, 2), (64, 35),
    ])
  func oddSizes(_ width: Int, _ height: Int) throws {
    let scratch = try Scratch()
    let input = try Self.source(
      scratch,
      "testsrc2=s=\(max(width, 32))x\(max(height, 32)):r=25:d=0.12,"
        + "scale=\(width):\(height),setsar=1",
      "-c:v ffv1 -level 1 -pix_fmt yuv420p", name: "source.mov")
    for orientation in [ImageOrientation.up, .right, .downMirrored] {
      try DisplayMatrixPatch.apply(orientation, to: input)
      let (run, picture) = try Self.transcode(input, scratch) { _ in }
      let upright = orientation.applied(to: PixelSize(width, height))
      #expect(picture.width == max(2, upright.width & ~1))
      #expect(picture.height == max(2, upright.height & ~1))
      #expect(run.result.output.frames == 3)
      guard min(width, height) > 16 else { continue }
      let ratios = try FFmpegTool.ratios(
        inputs: ["-noautorotate", "-i", input, "-i", run.path],
        graph: "[0]\(ExactTurnTests.filter(orientation)),scale=\(picture.width):\(picture.height)"
          + ":flags=bicubic+accurate_rnd,setsar=1[a];[1]setsar=1[b]")
      #expect(ratios.worst.luma > 20, "\(width)x\(height) \(orientation.name): \(ratios.worst)")
    }
  }

  @Test(
    "VP9 with odd dimensions",
    .clips("odd-sar/bear-vp9-odd-dimensions.webm"))
  func oddVP9() throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/odd-sar/bear-vp9-odd-dimensions.webm").path
    let run = try Transcoded(input, to: scratch.path("out.mp4"))
    #expect(run.result.output.frames == 30)
    let video = try FFmpegTool.streams(run.path, "video").first
    #expect(video?["width"].int == 160 && video?["height"].int == 120)
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", input, "-i", run.path],
      graph: "[0:v]scale=160:120:flags=bicubic[a];[1:v]null[b]")
    #expect(ratios.worst.luma > 30)
  }

  struct Change: CustomTestStringConvertible, Sendable {
    let file: String
    let frames: Int
    /// The index of the first frame of each stored size, and the size, in order.
    let sizes: [(Int, Int, Int)]
    var testDescription: String { file }
  }

  @Test(
    "A change of the source's size in mid-stream takes effect at that frame", .long,
    .clips("res-change"),
    arguments: [
      Change(
        file: "res-change/wpt_400x300-red-resize-200x150-green.mp4", frames: 118,
        sizes: [(0, 400, 300), (59, 200, 150)]),
      Change(
        file: "res-change/gecko_resolution-change.webm", frames: 197,
        sizes: [(0, 60, 40), (16, 30, 20), (32, 60, 40), (48, 30, 20)]),
      Change(
        file: "res-change/vp80-03-segmentation-1436.ivf", frames: 2,
        sizes: [(0, 352, 288), (1, 282, 231)]),
      Change(
        file: "res-change/change_video_resolution.ts", frames: 706,
        sizes: [(0, 640, 360), (229, 1280, 720), (417, 1920, 1080)]),
    ], ["out.mp4", "out.m3u8"])
  func sizeChanges(_ change: Change, _ name: String) throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/\(change.file)").path
    let run = try Transcoded(input, to: scratch.path(name)) {
      $0.size = .pair(PixelSize(180, 320))
      $0.quick()
    }
    #expect(run.result.output.frames == change.frames)
    let frames = try FFmpegTool.frames(run.path)
    #expect(frames.count == change.frames)
    // The canvas keeps its size. Each source size has its own transform onto it, without distortion.
    #expect(Set(frames.map(\.width)) == [320])
    let formats = run.report["formats"].array
    for (index, (first, width, height)) in change.sizes.enumerated() {
      guard formats.indices.contains(index) else {
        Issue.record("no format \(index): \(formats)")
        break
      }
      let wanted = formats[index]["first_frame"].int ?? -1
      #expect(abs(wanted - first) <= 1, "format \(index) begins at \(wanted)")
      let r = try run.rectangle(index, of: PixelSize(width, height))
      let shape = Double(width) / Double(height)
      #expect(abs(Double(r.width) / Double(r.height) - shape) < 0.05 * shape, "\(r)")
      #expect(r.width == 320 || r.height == 180, "\(r)")
    }
  }
}
