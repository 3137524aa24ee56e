import Foundation
import Testing
import UprightTestSupport

/// What frames lose by being encoded is named: chroma, depth, HDR, captions.
@Suite("Losses by encoding")
struct EncodingLossTests {
  // 2 s for all.
  @Test(
    "Chroma and depth",
    arguments: [
      ("yuv444p", "h264", ["4:4:4 chroma"]), ("yuv422p", "h264", ["4:2:2 chroma"]),
      ("yuv420p", "h264", []), ("yuv420p10le", "h264", ["10-bit samples"]),
      ("yuv422p10le", "h264", ["10-bit samples", "4:2:2 chroma"]),
      ("yuv422p10le", "hevc", ["4:2:2 chroma"]),
      ("yuv420p10le", "hevc", []), ("gray", "h264", []),
    ] as [(String, String, [String])])
  func samples(_ format: String, _ codec: String, _ expected: [String]) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=0.3 -pix_fmt \(format) -c:v libx264 -bf 0", [input])
    let report = scratch.path("report.json")
    let arguments = [
      "transcode", input, "--codec", codec, "--size", "96x144", "-o", scratch.path("out.mp4"),
    ]
    let run = try CommandLineProgram(arguments + ["--report", report]).wait(timeout: 60)
    let json = try JSONDecoder().decode(
      JSON.self, from: try Data(contentsOf: URL(fileURLWithPath: report)))
    let dropped = json["output"]["dropped"].array.compactMap(\.string)
    #expect(dropped.count == expected.count, "\(dropped)")
    for text in expected {
      #expect(dropped.contains { $0.hasPrefix(text) }, "\(dropped)")
      #expect(run.warnings.contains { $0.contains("left out: \(text)") }, "\(run.errors)")
    }
    let plan = try CommandLineProgram(arguments + ["--dry-run", "--overwrite"]).wait(timeout: 60)
    let planned = plan.text.split(separator: "\n").filter { $0.hasPrefix("dropped ") }
    #expect(planned.map { String($0.dropFirst(8)) } == dropped, "\(plan.text)")
  }

  /// An SEI message with closed captions (ATSC A/53, 6.2.3) as a NAL unit with a start code.
  private static let captions: [UInt8] =
    [0, 0, 0, 1, 6, 4, 14, 0xB5, 0, 0x31] + Array("GA94".utf8) + [
      3, 0x41, 0xFF, 0xFC, 0xC8, 0xC9, 0xFF, 0x80,
    ]

  @Test("Captions are kept by the H.264 encoder, and named with the others")
  func captions() throws {
    let scratch = try Scratch()
    let raw = scratch.path("in.h264")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x96:r=10:d=0.5 -c:v libx264 -bf 0 -x264-params slices=1", [raw])
    var bytes: [UInt8] = []
    let source = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    for (index, byte) in source.enumerated() {
      // Before each slice.
      let kind = index + 3 < source.count ? source[index + 3] & 0x1F : 0
      if source[index...].starts(with: [0, 0, 1]), kind == 1 || kind == 5 {
        bytes += Self.captions
      }
      bytes.append(byte)
    }
    try Data(bytes).write(to: URL(fileURLWithPath: raw))
    let input = scratch.path("in.mp4")
    try FFmpegTool.run("-r 10 -i \(raw) -c copy", [input])
    for codec in ["h264", "hevc"] {
      let run = try Transcoded(input, to: scratch.path("\(codec).mp4")) {
        $0.codec = .init(rawValue: codec)
        $0.size = .pair(.init(96, 144))
      }
      let sides = try FFmpegTool.frames(run.path).flatMap { $0.json["side_data_list"].array }
      let isKept = sides.contains { $0["side_data_type"].string?.contains("A53") == true }
      let isNamed = run.result.output.dropped.contains { $0.hasPrefix("closed captions") }
      #expect(isKept != isNamed, "\(codec): \(run.result.output.dropped)")
      if codec == "h264" { #expect(isKept) }
    }
  }
}
