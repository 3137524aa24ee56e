import Foundation
import Testing
import UprightTestSupport

/// Progress and messages of the commands.
@Suite("Messages of the commands", .enabled(if: FFmpegTool.isHere))
struct WordingTests {
  private static func clip(_ path: String, _ more: String = "") throws {
    try FFmpegTool.run("-f lavfi -i testsrc2=s=64x48:r=10:d=2 -c:v libx264 -g 10 \(more)", [path])
  }

  private static func run(_ words: String...) throws -> CommandLineProgram.Outcome {
    try CommandLineProgram(words).wait(timeout: 60)
  }

  @Test("A copy is reported as a copy, without a frame rate of encoding")
  func copies() throws {
    let scratch = try Scratch()
    let (clip, output) = (scratch.path("in.mp4"), scratch.path("out.mp4"))
    try Self.clip(clip)
    let copied = try Self.run("transcode", clip, "-o", output)
    #expect(copied.errors.contains("20 frames copied, 64x48, in "), "\(copied.errors)")
    #expect(!copied.errors.contains("fps"))
    let encoded = try Self.run("transcode", clip, "-o", output, "-y", "--reencode", "always")
    #expect(encoded.errors.contains("20 frames, 64x48, in ") && encoded.errors.contains("fps"))
  }

  @Test("Progress is relative to the selected part")
  func parts() throws {
    let scratch = try Scratch()
    let clip = scratch.path("in.mp4")
    try Self.clip(clip)
    let run = try Self.run(
      "transcode", clip, "--start", "1", "--to", "1.5", "--progress", "json", "-o",
      scratch.path("out.mp4"))
    let last = try #require(run.errors.split(separator: "\n").last { $0.hasPrefix("{") })
    let told = try JSONDecoder().decode(JSON.self, from: Data(last.utf8))
    #expect(told["frames"].int == 5, "\(last)")
    #expect(
      abs((told["seconds"].double ?? 9) - 0.4) < 0.01 && told["eta"].double ?? 9 < 1, "\(last)")
  }

  @Test("policies prints the purpose of each, preview its output, probe null for unknown values")
  func others() throws {
    let scratch = try Scratch()
    let listed = try Self.run("policies")
    let lines = String(decoding: listed.output, as: UTF8.self).split(separator: "\n")
    #expect(lines.first == "phone              an iPhone app: every orientation but upside down")
    #expect(lines.count == 6 && lines.allSatisfy { $0.count > 30 })
    let clip = scratch.path("in.ts")
    try Self.clip(clip)
    let sheet = scratch.path("sheet.png")
    #expect(try Self.run("preview", clip, "-o", sheet).errors.contains("\(sheet): frames before"))
    #expect(try Self.run("preview", clip, "-o", sheet, "-y", "-q").errors.isEmpty)
    let probed = try Self.run("probe", clip, "--json").json
    #expect(probed["streams"][0]["frames"] == .null && probed["streams"][0]["width"].int == 64)
    let recording = scratch.path("call.mjr")
    try Data("MJR00002\0\u{2}{}".utf8).write(to: URL(fileURLWithPath: recording))
    let refused = try Self.run(
      "tag", recording, "-o", scratch.path("out.mp4"), "--orientation", "right")
    #expect(refused.status == 64 && refused.errors.contains("packets of RTP"), "\(refused.errors)")
  }
}
