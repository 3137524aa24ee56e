import Foundation
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// The times of copied audio. Five seconds.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct CopiedAudioTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let coder: String
    let rate: Int
    /// The samples of one packet.
    let length: Int
    let source: String
    var testDescription: String { "\(coder), \(rate) Hz, \(source)" }
  }

  static let cases = [
    Case(coder: "aac", rate: 44_100, length: 1024, source: "mkv"),
    Case(coder: "aac", rate: 48_000, length: 1024, source: "mkv"),
    Case(coder: "aac", rate: 22_050, length: 1024, source: "flv"),
    Case(coder: "libopus", rate: 48_000, length: 960, source: "webm"),
    Case(coder: "libmp3lame", rate: 44_100, length: 1152, source: "mkv"),
    Case(coder: "ac3", rate: 44_100, length: 1536, source: "mkv"),
  ]

  private static func source(_ test: Case, _ scratch: Scratch, _ filter: String = "anull") throws
    -> String
  {
    let path = scratch.path("source.\(test.source)")
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=24:d=2", "-f", "lavfi"]
        + ["-i", "sine=440:d=1.987:r=\(test.rate)", "-af", filter, "-c:a", test.coder, "-c:v"]
        + [test.source == "webm" ? "libvpx-vp9" : "libx264", "-pix_fmt", "yuv420p", path])
    return path
  }

  private static func samples(_ path: String) throws -> Data {
    try FFmpegTool.run(["-i", path, "-map", "0:a", "-f", "s16le", "-"])
  }

  @Test("Times that a container rounded to milliseconds are exact in MP4", arguments: cases)
  func exact(_ test: Case) throws {
    let scratch = try Scratch()
    let source = try Self.source(test, scratch)
    let run = try Transcoded(source, to: scratch.path("out.mp4")) { $0.reencode = .never }
    let packets = try FFmpegTool.packets(run.path, "a:0")
    #expect(packets.count > 30)
    #expect(packets.dropLast().allSatisfy { $0.duration == test.length })
    let first = try #require(try FFmpegTool.packets(source, "a:0").first?.time)
    if test.coder == "libopus" {
      // 312 samples precede the audio of libopus, and some follow it in the last packet.
      #expect(packets.first?.pts == -312)
      let end = packets.last.map { ($0.pts ?? 0) + ($0.duration ?? 0) }
      #expect(end == test.rate * 1987 / 1000)
    } else {
      #expect(packets.first?.pts == Int((first * Double(test.rate)).rounded()))
      // FFmpeg drops an MP3's padding in Matroska only.
      #expect(try Self.samples(run.path).starts(with: Self.samples(source)))
    }
  }

  @Test("A gap in the audio stays where it is")
  func gap() throws {
    let scratch = try Scratch()
    // Half a second is missing from 0.5 s on.
    let source = try Self.source(Self.cases[0], scratch, "aselect='lt(t,0.5)+gt(t,1)'")
    let run = try Transcoded(source, to: scratch.path("out.mp4")) { $0.reencode = .never }
    let (old, new) = (
      try FFmpegTool.packets(source, "a:0"), try FFmpegTool.packets(run.path, "a:0")
    )
    #expect(old.count == new.count)
    let apart = zip(old, new).map { abs(($0.time ?? 0) - ($1.time ?? 1)) }.max() ?? 1
    #expect(apart < 0.0011, "\(apart)")
  }
}
