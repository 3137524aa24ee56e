import Foundation
import UprightOrientation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// HDR10's static metadata: mastering display and light levels are written where the codec and the
/// container support them. Dynamic metadata is dropped and reported.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct HDRTests {
  private static let display = [
    "red_x": 0.68, "red_y": 0.32, "green_x": 0.265, "green_y": 0.69, "blue_x": 0.15,
    "blue_y": 0.06, "white_point_x": 0.3127, "white_point_y": 0.329, "min_luminance": 0.005,
    "max_luminance": 1000,
  ]

  private static func source(
    _ scratch: Scratch, cll: String = "1000,400", format: String = "yuv420p10le"
  ) throws -> String {
    let path = scratch.path("source-\(cll).mp4")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=s=128x72:r=25:d=0.4", "-pix_fmt", format, "-c:v",
      "libx265", "-preset", "ultrafast", "-x265-params",
      "log-level=none:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:repeat-headers=1"
        + ":keyint=5:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)"
        + "L(10000000,50):max-cll=\(cll)",
      path,
    ])
    return path
  }

  private static func number(_ text: String?) -> Double? {
    guard let parts = text?.split(separator: "/").compactMap({ Double($0) }), parts.count == 2
    else { return nil }
    return parts[0] / parts[1]
  }

  /// Returns the contents of a side data list, with the display's values as real numbers.
  private static func read(_ list: JSON) -> (display: [String: Double], cll: [Int?]) {
    var display: [String: Double] = [:]
    var cll: [Int?] = []
    for side in list.array {
      switch side["side_data_type"].string {
      case "Mastering display metadata":
        for key in Self.display.keys { display[key] = number(side[key].string) }
      case "Content light level metadata":
        cll = [side["max_content"].int, side["max_average"].int]
      default: break
      }
    }
    return (display, cll)
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let output: String
    let codec: VideoCodec
    var inFrames = true
    var inStream = true
    var testDescription: String { "\(codec.rawValue) in \(output)" }
  }

  @Test(
    "Mastering display and light levels are kept when frames are rotated", .long,
    arguments: [
      Case(output: "out.mp4", codec: .hevc), Case(output: "out.mkv", codec: .hevc),
      Case(output: "out.m3u8", codec: .hevc, inStream: false),
      Case(output: "out.ts", codec: .hevc, inStream: false),
      Case(output: "out.mp4", codec: .av1), Case(output: "out.mkv", codec: .av1),
      // FFmpeg 5.1 does not read these SEI messages in H.264. The container's values are checked instead.
      Case(output: "out.mp4", codec: .h264, inFrames: false),
      Case(output: "out.webm", codec: .vp9, inFrames: false),
    ])
  func kept(_ test: Case) throws {
    let scratch = try Scratch()
    // From 10 bits, H.264 output would be tone-mapped to SDR.
    let input = try Self.source(
      scratch, format: test.codec == .h264 ? "yuv420p" : "yuv420p10le")
    try DisplayMatrixPatch.apply(.right, to: input)
    let run = try Transcoded(input, to: scratch.path(test.output)) { $0.codec = test.codec }
    #expect(run.result.output.frames == 10)
    let frames = try FFmpegTool.frames(run.path)
    #expect(frames.count == 10)
    var places = test.inFrames ? frames.map { $0.json["side_data_list"] } : []
    if test.inStream {
      places.append(try #require(try FFmpegTool.streams(run.path, "video").first)["side_data_list"])
    }
    for place in places {
      let (display, cll) = Self.read(place)
      #expect(cll == [1000, 400])
      for (key, value) in Self.display {
        #expect(abs((display[key] ?? -1) - value) <= value * 1e-3 + 1e-4, "\(key)")
      }
    }
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["color_transfer"].string == "smpte2084")
    #expect(video["pix_fmt"].string == (test.codec == .h264 ? "yuv420p" : "yuv420p10le"))
    #expect(!run.result.warnings.contains { $0.contains("HDR10") })
  }

  @Test("H.264 has the SEI messages too, which a stream without boxes needs")
  func h264Messages() throws {
    let scratch = try Scratch()
    let source = try Self.source(scratch, format: "yuv420p")
    let run = try Transcoded(source, to: scratch.path("out.ts")) { $0.codec = .h264 }
    let said = try ExternalTool("ffmpeg").run([
      "-nostdin", "-i", run.path, "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-",
    ]).errors
    let lines = said.split(separator: "\n").map {
      $0.split(separator: " ").suffix(4).joined(separator: " ")
    }
    for field in [
      "max_content_light_level 0000001111101000 = 1000",
      "max_pic_average_light_level 0000000110010000 = 400",
      "max_display_mastering_luminance 00000000100110001001011010000000 = 10000000",
      "min_display_mastering_luminance 00000000000000000000000000110010 = 50",
    ] {
      #expect(lines.contains(field), "\(field)")
    }
  }

  /// Returns the luminance of a PQ signal, in cd/m² (ITU-R BT.2100, table 4).
  private static func light(_ signal: Double) -> Double {
    let power = pow(signal, 1 / 78.84375)
    return 10000
      * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
  }

  /// Returns the 8-bit luma of a PQ signal after tone mapping: linear up to half of white (203 cd/m²),
  /// compressed above it up to 1000 cd/m², for a display with a gamma of 2.4.
  private static func shown(_ signal: Double) -> Double {
    let (x, j, peak) = (light(signal) / 203, 0.5, 1000 / 203.0)
    let a = -j * j * (peak - 1) / (j * j - 2 * j + peak)
    let b = (j * j - 2 * j * peak + peak) / (peak - 1)
    let y = x <= j ? x : (b * b + 2 * b * j + j * j) / (b - a) * (x + a) / (x + b)
    return 16 + 219 * pow(min(y, 1), 1 / 2.4)
  }

  @Test(
    "10-bit HDR is tone-mapped to BT.709 for 8-bit output, and kept for 10-bit output",
    // Frames that are larger than the canvas are scaled before.
    arguments: [
      ("out.ts", nil, 1), ("out.ts", nil, 4), ("out.m3u8", nil, 1), ("out.mp4", .h264, 3),
      ("out.mkv", nil, 1),
    ] as [(String, VideoCodec?, Int)])
  func tones(_ output: String, _ codec: VideoCodec?, _ scale: Int) throws {
    let scratch = try Scratch()
    let input = scratch.path("grey.mkv")
    // Four grey bars, in limited range.
    let signals = [0.2, 0.4, 0.58, 0.72]
    let codes = signals.map { Int(64 + 876 * $0) }
    let grey =
      "if(lt(X,\(32 * scale)),\(codes[0]),if(lt(X,\(64 * scale)),\(codes[1]),"
      + "if(lt(X,\(96 * scale)),\(codes[2]),\(codes[3]))))"
    try FFmpegTool.run([
      "-f", "lavfi", "-i",
      "nullsrc=s=\(128 * scale)x\(72 * scale):r=10:d=0.5,format=yuv420p10le,geq=lum='\(grey)':cb=512:cr=512",
      "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
      "log-level=none:lossless=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc", input,
    ])
    let run = try Transcoded(input, to: scratch.path(output)) {
      $0.codec = codec
      $0.reencode = .always
      $0.size = .pair(PixelSize(72, 128))
    }
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    let isSDR = output != "out.mkv"
    #expect(run.result.output.dropped.contains { $0.contains("tone-mapped") } == isSDR)
    #expect(video["codec_name"].string == (isSDR ? "h264" : "hevc"))
    #expect(video["pix_fmt"].string == (isSDR ? "yuv420p" : "yuv420p10le"))
    #expect(video["color_transfer"].string == (isSDR ? "bt709" : "smpte2084"))
    guard isSDR else { return }
    let pixels = try FFmpegTool.run([
      "-i", run.path, "-frames:v", "1", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-",
    ])
    for (index, signal) in signals.enumerated() {
      let luma = Double(pixels[pixels.startIndex + 36 * 128 + index * 32 + 16])
      #expect(abs(luma - Self.shown(signal)) <= 3, "\(signal): \(luma), not \(Self.shown(signal))")
    }
  }

  @Test("Metadata is read from the container, because VP9 carries none")
  func fromContainer() throws {
    let scratch = try Scratch()
    let webm = try Transcoded(try Self.source(scratch), to: scratch.path("first.webm"))
    let run = try Transcoded(webm.path, to: scratch.path("second.mp4")) { $0.codec = .hevc }
    let frame = try #require(try FFmpegTool.frames(run.path).last)
    let (display, cll) = Self.read(frame.json["side_data_list"])
    #expect(cll == [1000, 400])
    #expect(abs((display["max_luminance"] ?? 0) - 1000) < 0.01)
  }

  @Test("A change in mid-stream is followed, or reported if the container can't store it")
  func changes() throws {
    let scratch = try Scratch()
    var joined = Data()
    for (index, cll) in ["1000,400", "600,200"].enumerated() {
      let piece = scratch.path("\(index).ts")
      try FFmpegTool.run(["-i", try Self.source(scratch, cll: cll), "-c", "copy", piece])
      joined += try Data(contentsOf: URL(fileURLWithPath: piece))
    }
    let input = scratch.path("joined.ts")
    try joined.write(to: URL(fileURLWithPath: input))
    let run = try Transcoded(input, to: scratch.path("out.ts")) {
      $0.codec = .hevc
      $0.size = .pair(PixelSize(72, 128))
    }
    #expect(run.result.output.frames == 20)
    let said = try FFmpegTool.frames(run.path).map { Self.read($0.json["side_data_list"]).cll }
    #expect(
      said == Array(repeating: [1000, 400], count: 10) + Array(repeating: [600, 200], count: 10))
    let fixed = try Transcoded(input, to: scratch.path("out.mkv")) {
      $0.codec = .hevc
      $0.reencode = .always
    }
    #expect(fixed.result.output.frames == 20)
    #expect(fixed.result.warnings.contains { $0.contains("colour's description changed") })
  }

  @Test("Metadata that Y4M can't store is reported")
  func unsayable() throws {
    let scratch = try Scratch()
    let run = try Transcoded(try Self.source(scratch), to: scratch.path("out.y4m"))
    #expect(run.result.output.dropped.contains { $0.hasPrefix("HDR10 mastering data") })
  }

  @Test(
    "Dropped Dolby Vision metadata is reported",
    .clips("rotation-real/dolbyVision-hdr.MOV"))
  func dynamic() throws {
    let scratch = try Scratch()
    let input = SharedFiles.url("clips/rotation-real/dolbyVision-hdr.MOV").path
    let run = try Transcoded(input, to: scratch.path("out.mp4")) {
      $0.codec = .hevc
      $0.size = .pair(PixelSize(90, 160))
      $0.quick()
    }
    let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
    #expect(dropped.contains("Dolby Vision metadata"), "\(dropped)")
    let video = try #require(try FFmpegTool.streams(run.path, "video").first)
    #expect(video["color_transfer"].string == "arib-std-b67")
    #expect(video["pix_fmt"].string == "yuv420p10le")
  }
}
