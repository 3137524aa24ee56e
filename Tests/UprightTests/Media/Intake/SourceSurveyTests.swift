import Foundation
import Testing
import UprightFiles
import UprightMediaIO
import UprightOrientation
import UprightMedia
import UprightTestSupport

@testable import UprightLive

/// The defaults of an output are those of the whole input.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct SourceSurveyTests {
  /// Encodes frames of several sizes one after another in one track, as a sender does that adapts its size.
  private static func ramp(
    _ scratch: Scratch, _ parts: [(size: PixelSize, frames: Int)], format: [String] = ["yuv420p"],
    codec: String = "libx264", name: String = "ramp.mp4"
  ) throws -> String {
    var stream = Data()
    for (index, part) in parts.enumerated() {
      let path = scratch.path("part\(index).\(codec == "libx265" ? "hevc" : "h264")")
      try FFmpegTool.run(
        ["-f", "lavfi", "-i", "testsrc2=s=\(part.size):r=25", "-frames:v", "\(part.frames)"]
          + ["-pix_fmt", format[index % format.count], "-c:v", codec, "-preset", "ultrafast"]
          + (codec == "libx265" ? ["-x265-params", "log-level=none:bframes=0"] : ["-bf", "0"])
          + [path])
      stream += try Data(contentsOf: URL(fileURLWithPath: path))
    }
    let joined = scratch.path("joined.\(codec == "libx265" ? "hevc" : "h264")")
    try stream.write(to: URL(fileURLWithPath: joined))
    let output = scratch.path(name)
    try FFmpegTool.run(["-framerate", "25", "-i", joined, "-c", "copy", output])
    return output
  }

  struct Ramp: CustomTestStringConvertible, Sendable {
    let parts: [(size: PixelSize, frames: Int)]
    let expected: PixelSize
    var name = "ramp.mp4"
    var testDescription: String {
      parts.map { "\($0.frames) of \($0.size)" }.joined(separator: ", ") + " \(name)"
    }
  }

  @Test(
    "The size is the largest that lasts",
    arguments: Loop.cases(
      [
        Ramp(
          parts: [(PixelSize(64, 36), 6), (PixelSize(96, 54), 6), (PixelSize(160, 90), 12)],
          expected: PixelSize(160, 90)),
        // Two frames of a large size don't last.
        Ramp(
          parts: [(PixelSize(64, 36), 20), (PixelSize(320, 180), 2), (PixelSize(128, 72), 20)],
          expected: PixelSize(128, 72)),
        // A second is long enough, whatever share it is.
        Ramp(
          parts: [(PixelSize(64, 36), 110), (PixelSize(128, 72), 26)],
          expected: PixelSize(128, 72), name: "ramp.mkv"),
        Ramp(
          parts: [(PixelSize(128, 72), 6), (PixelSize(64, 36), 12)],
          expected: PixelSize(128, 72)),
        // Equal areas: the first.
        Ramp(
          parts: [(PixelSize(64, 36), 6), (PixelSize(36, 64), 6)],
          expected: PixelSize(64, 36), name: "ramp.ts"),
        // Down again, and portrait.
        Ramp(
          parts: [(PixelSize(36, 64), 6), (PixelSize(90, 160), 12), (PixelSize(36, 64), 6)],
          expected: PixelSize(90, 160)),
        // A quarter of a short file is long enough.
        Ramp(
          parts: [(PixelSize(64, 36), 15), (PixelSize(128, 72), 6)],
          expected: PixelSize(128, 72), name: "ramp.ts"),
        Ramp(
          parts: [(PixelSize(160, 90), 2), (PixelSize(64, 36), 20)],
          expected: PixelSize(64, 36), name: "ramp.mkv"),
        // The first size again, for longer together.
        Ramp(
          parts: [(PixelSize(96, 54), 6), (PixelSize(64, 36), 12), (PixelSize(96, 54), 6)],
          expected: PixelSize(96, 54), name: "ramp.mkv"),
        Ramp(parts: [(PixelSize(96, 54), 24)], expected: PixelSize(96, 54), name: "ramp.ts"),
      ], check: 2, test: 10))
  func largest(_ ramp: Ramp) throws {
    let scratch = try Scratch()
    let input = try Self.ramp(scratch, ramp.parts, name: ramp.name)
    let run = try Transcoded(input, to: scratch.path("out.mkv")) {
      $0.quick()
      $0.canvas = .initial
    }
    #expect(run.result.output.sizes == [ramp.expected])
    #expect(run.result.output.frames == ramp.parts.reduce(0) { $0 + $1.frames })
  }

  @Test("Live: a size that a sender reaches in its first two seconds is the stream's", .realTime)
  func live() throws {
    let scratch = try Scratch()
    let path = try Self.ramp(
      scratch, [(PixelSize(64, 36), 6), (PixelSize(128, 72), 8), (PixelSize(96, 54), 6)],
      name: "ramp.mkv")
    let stage = try LiveTestSession(
      [.hls(folder: scratch.path("hls"))], input: .file(path: path)
    ) {
      $0.options.canvas = .landscape
      $0.options.size = .source
    }
    #expect(stage.session.join(timeout: 30))
    #expect(
      stage.formats.map(\.format.encodeResolution) == [PixelSize(64, 36), PixelSize(128, 72)])
  }

  @Test("The depth is the deepest")
  func depth() throws {
    let scratch = try Scratch()
    let input = try Self.ramp(
      scratch, [(PixelSize(64, 48), 8), (PixelSize(64, 48), 8)],
      format: ["yuv420p", "yuv420p10le"], codec: "libx265", name: "ramp.mkv")
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    let picture = try Y4M(path: run.path)
    #expect(picture.sampleBytes == 2 && run.result.output.frames == 16)
  }

  @Test(
    "YUV4MPEG2 has the rate of the median step, and a warning if steps differ",
    arguments: [
      // Frames 6 to 9 are twice as long.
      ("if(lt(N,6),N,6+(N-6)*2)", "F25:1", true), ("N", "F25:1", false),
      // A gap of a second leaves the mean at 8.
      ("if(lt(N,6),N,N+25)", "F25:1", true),
    ])
  func rate(_ times: String, _ rate: String, _ isVariable: Bool) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25,setpts='(\(times))/25/TB'", "-frames:v", "10",
        "-fps_mode", "passthrough", "-c:v", "libx264", "-bf", "0", input,
      ])
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(try Y4M(path: run.path).fields["F"] == String(rate.dropFirst()))
    #expect(run.result.warnings.contains { $0.contains("frame rate varies") } == isVariable)
  }

  @Test("Milliseconds round a steady rate, and are no variation")
  func milliseconds() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mkv")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=24000/1001 -frames:v 24 -c:v libx264 -bf 0", [input])
    let run = try Transcoded(input, to: scratch.path("out.y4m"))
    #expect(try Y4M(path: run.path).fields["F"] == "24000:1001")
    #expect(!run.result.warnings.contains { $0.contains("frame rate varies") })
  }
}
