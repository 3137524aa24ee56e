import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// The meaning of sample values is preserved: range, tags, siting, depth.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ColourTests {
  private static func source(
    _ scratch: Scratch, _ coding: String, graph: String = "testsrc2=s=128x72:r=25:d=0.2",
    name: String = "source.mp4"
  ) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", graph] + coding.words + [path])
    return path
  }

  private static let tags = [
    "color_range", "color_space", "color_transfer", "color_primaries", "pix_fmt", "chroma_location",
  ]

  private static func tags(of path: String) throws -> [String: String] {
    let video = try FFmpegTool.streams(path, "video").first ?? .null
    return Dictionary(uniqueKeysWithValues: tags.map { ($0, video[$0].string ?? "none") })
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let coding: String
    let output: String
    var codec: VideoCodec?
    var expected: [String: String]
    var testDescription: String { "\(coding) to \(output) \(codec?.rawValue ?? "")" }
  }

  // Newer versions of ffmpeg take transfer and primaries from the frames only.
  private static func coding(
    _ space: String, _ transfer: String, _ primaries: String, _ range: String
  ) -> String {
    "-vf setparams=color_trc=\(transfer):color_primaries=\(primaries) -colorspace \(space)"
      + " -color_trc \(transfer) -color_primaries \(primaries) -color_range \(range)"
  }

  private static let bt709 = coding("bt709", "bt709", "bt709", "tv")
  private static let full = coding("smpte170m", "smpte170m", "bt470bg", "pc")
  private static let hlg = coding("bt2020nc", "arib-std-b67", "bt2020", "tv")

  @Test(
    "Colour tags are kept", .long,
    arguments: [
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p \(bt709)", output: "out.mp4",
        expected: [
          "color_range": "tv", "color_space": "bt709", "color_transfer": "bt709",
          "color_primaries": "bt709", "pix_fmt": "yuv420p",
        ]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuvj420p \(full)", output: "out.mp4",
        expected: [
          "color_range": "pc", "color_space": "smpte170m", "color_transfer": "smpte170m",
          "color_primaries": "bt470bg", "pix_fmt": "yuvj420p",
        ]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuvj420p \(full)", output: "out.mkv",
        expected: ["color_range": "pc", "color_space": "smpte170m", "pix_fmt": "yuvj420p"]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuvj420p \(full)", output: "out.m3u8",
        expected: ["color_range": "pc", "color_space": "smpte170m", "pix_fmt": "yuvj420p"]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p", output: "out.mp4",
        expected: [
          "color_range": "none", "color_space": "none", "color_transfer": "none",
          "color_primaries": "none", "pix_fmt": "yuv420p",
        ]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p10le \(hlg)", output: "out.mp4", codec: .hevc,
        expected: [
          "color_range": "tv", "color_space": "bt2020nc", "color_transfer": "arib-std-b67",
          "color_primaries": "bt2020", "pix_fmt": "yuv420p10le",
        ]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p10le \(hlg)", output: "out.mkv", codec: .av1,
        expected: [
          "color_range": "tv", "color_space": "bt2020nc", "color_transfer": "arib-std-b67",
          "color_primaries": "bt2020", "pix_fmt": "yuv420p10le",
        ]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p10le \(hlg)", output: "out.mp4",
        expected: ["color_transfer": "arib-std-b67", "pix_fmt": "yuv420p10le"]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv420p \(bt709)", output: "out.webm", codec: .vp9,
        expected: ["color_range": "tv", "color_space": "bt709", "pix_fmt": "yuv420p"]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv422p \(bt709)", output: "out.mp4",
        expected: ["color_space": "bt709", "pix_fmt": "yuv420p"]),
      Case(
        coding: "-c:v libx264 -pix_fmt yuv444p \(bt709)", output: "out.mp4",
        expected: ["color_space": "bt709", "pix_fmt": "yuv420p"]),
    ])
  func tagsAreKept(_ test: Case) throws {
    let scratch = try Scratch()
    let input = try Self.source(scratch, test.coding)
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path(test.output)) { $0.codec = test.codec }
    #expect(run.result.output.frames == 5)
    let tags = try Self.tags(of: run.path)
    for (name, value) in test.expected {
      #expect((tags[name] == "unknown" ? "none" : tags[name]) == value, "\(name)")
    }
    // The samples are compared too, not only the tags.
    let ratios = try FFmpegTool.ratios(
      inputs: ["-noautorotate", "-i", input, "-i", run.path],
      graph: "[0]transpose=clock,scale=72:128,format=yuv420p[a];[1]scale=72:128,format=yuv420p[b]")
    #expect(ratios.worst.luma > 30, "\(ratios.worst)")
  }

  @Test(
    "The chroma siting tag is updated after a rotation", .long,
    arguments: [
      (ImageOrientation.up, "left", "left"), (.right, "left", "top"), (.left, "left", "bottom"),
      (.leftMirrored, "left", "top"), (.rightMirrored, "left", "bottom"),
      (.right, "topleft", nil), (.right, "center", "center"), (.down, "center", "center"),
    ] as [(ImageOrientation, String, String?)])
  func siting(_ orientation: ImageOrientation, _ source: String, _ expected: String?) throws {
    let scratch = try Scratch()
    let input = try Self.source(
      scratch,
      "-c:v libx264 -pix_fmt yuv420p -bsf:v h264_metadata=chroma_sample_loc_type="
        + (source == "left" ? "0" : source == "center" ? "1" : "2"))
    try DisplayMatrixPatch.apply(orientation, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mp4"))
    // H.264 has no value for chroma on the right. The tag is unchanged then.
    #expect(try Self.tags(of: run.path)["chroma_location"] == expected ?? source)
  }

  @Test("Unspecified chroma siting stays unspecified")
  func unsaidSiting() throws {
    let scratch = try Scratch()
    // For H.264 without the field, ffprobe assumes left.
    let input = try Self.source(scratch, "-c:v ffv1 -pix_fmt yuv420p", name: "source.mov")
    #expect(try Self.tags(of: input)["chroma_location"] == "none")
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path("out.mp4"))
    #expect(
      ["left", "none", "unspecified"].contains(try Self.tags(of: run.path)["chroma_location"]))
  }

  /// Compares the output with the reference frame (4:4:4), rotated, scaled and subsampled to 4:2:0.
  @Test(
    "After rotation and scaling, chroma is sited as the tag specifies", .long,
    arguments: [
      (ImageOrientation.right, PixelSize(360, 640), 640, 360),
      (.left, PixelSize(360, 640), 640, 360),
      (.right, PixelSize(90, 160), 640, 360),
      (.leftMirrored, PixelSize(180, 320), 640, 360),
      (.up, PixelSize(180, 320), 640, 360),
      (.down, PixelSize(180, 320), 640, 360),
    ])
  func chromaPlace(
    _ orientation: ImageOrientation, _ size: PixelSize, _ width: Int, _ height: Int
  ) throws {
    let scratch = try Scratch()
    // Chroma rises across and down, so a shift by part of a sample changes its value.
    let graph =
      "nullsrc=s=\(width)x\(height):r=25:d=0.04,format=yuv444p,"
      + "geq=lum='128+60*sin(X/23)*cos(Y/31)':cb='128+90*sin(X/11)*cos(Y/13)':cr='128+90*cos(X/13)*sin(Y/11)'"
    let truth = scratch.path("truth.mov")
    try FFmpegTool.run(["-f", "lavfi", "-i", graph, "-c:v", "ffv1", "-level", "3", truth])
    let input = scratch.path("source.mp4")
    try FFmpegTool.run([
      "-i", truth, "-vf",
      "scale=out_h_chr_pos=0:out_v_chr_pos=128:flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p",
      "-c:v", "libx264", "-qp", "0", "-bsf:v", "h264_metadata=chroma_sample_loc_type=0", input,
    ])
    try DisplayMatrixPatch.apply(orientation, to: input)
    let run = try Transcoded(input, to: scratch.path("out.y4m")) {
      $0.size = .pair(size)
      $0.canvas = orientation.swapsAxes ? .portrait : .landscape
    }
    let (w, h) =
      orientation.swapsAxes
      ? (size.width, size.height) : (size.height, size.width)
    // The expected frame: the reference rotated, scaled and subsampled with chroma at (x, y). The reference
    // has chroma at every pixel, so it does not depend on the source's siting.
    func ratio(_ x: Int, _ y: Int) throws -> Double {
      let ratios = try FFmpegTool.ratios(
        inputs: ["-i", truth, "-i", run.path],
        graph: "[0]\(ExactTurnTests.filter(orientation)),"
          + "scale=\(w):\(h):out_h_chr_pos=\(x):out_v_chr_pos=\(y)"
          + ":flags=bicubic+accurate_rnd+full_chroma_int,format=yuv420p,setsar=1[a];"
          + "[1]setsar=1[b]")
      return min(ratios.lowest.cb, ratios.lowest.cr)
    }
    let right: (Int, Int) =
      switch orientation {
      case .right, .leftMirrored: (128, 0)
      case .left, .rightMirrored: (128, 256)
      default: (0, 128)
      }
    let good = try ratio(right.0, right.1)
    let wrong = try [(0, 128), (128, 0), (128, 256), (128, 128)]
      .filter { $0 != right }.map { try ratio($0.0, $0.1) }
    figure("chroma \(orientation.name) to \(w)x\(h): \(good) dB, elsewhere \(wrong)")
    #expect(good > 36)
    #expect(wrong.allSatisfy { $0 < good }, "\(good) dB where it should be, elsewhere \(wrong)")
  }

  @Test(
    "Other codecs, with a rotation", .long,
    arguments: [
      (VideoCodec.hevc, "out.mp4"), (.hevc, "out.ts"), (.hevc, "out.mkv"), (.av1, "out.mp4"),
      (.av1, "out.webm"), (.vp9, "out.webm"), (.vp9, "out.mkv"), (.vp9, "out.mp4"),
      (.hevc, "out.m3u8"), (.av1, "out.m3u8"), (.h264, "out.mkv"),
    ])
  func codecs(_ codec: VideoCodec, _ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(Samples.displayMatrix, to: scratch.path(name)) {
      $0.codec = codec
      $0.size = .pair(PixelSize(180, 320))
      $0.canvas = .portrait
    }
    #expect(run.result.output.frames == 60)
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["codec_name"].string == codec.rawValue)
    #expect(video["width"].int == 180 && video["height"].int == 320)
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", Samples.displayMatrix, "-i", run.path],
      graph: "[0:v]scale=180:320:flags=bicubic,setsar=1,format=yuv420p[a];"
        + "[1:v]setsar=1,format=yuv420p[b]")
    #expect(ratios.count == 60)
    figure("\(codec.rawValue) in \(name): worst luma \(ratios.worst.luma) dB")
    #expect(ratios.worst.luma > 27, "\(ratios.worst)")
  }

  @Test(
    "HEVC that follows a rotation", .long, arguments: ["out.mp4", "out.m3u8", "out.ts"])
  func hevcFollows(_ name: String) throws {
    let scratch = try Scratch()
    let run = try Transcoded(
      Samples.turning, to: scratch.path(name), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.canvas = .follow
      $0.codec = .hevc
      $0.size = .pair(PixelSize(180, 320))
      $0.quick()
    }
    #expect(run.result.output.frames == 300)
    let (status, said) = try Player.ffmpeg.play([run.path])
    #expect(status == 0, "\(said["error"])")
    #expect(said["numbers"].ints == Array(0..<300))
    #expect(said["sizes"].array.map { $0["frame"].int } == [0, 100, 200])
  }
}
