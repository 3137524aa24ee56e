import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightMedia
import UprightTestSupport

@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct EarlyStartTests {
  @Test("An input without edit lists whose video begins before 0 is shown whole")
  func shownWhole() throws {
    let scratch = try Scratch()
    let source = scratch.path("early.flv")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i sine=r=44100:d=1 -c:v libx264 -bf 2 -c:a aac",
      [source])
    // Each tag's time, 24 bits and 8 higher ones, begins four bytes after its type; 300 ms are subtracted.
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
    var place = 13
    while place + 11 <= bytes.count {
      let size = bytes[place + 1..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let low = bytes[place + 4..<place + 7].reduce(0) { $0 << 8 | UInt32($1) }
      let time = (UInt32(bytes[place + 7]) << 24 | low) &- 300
      for index in 0..<3 {
        bytes[place + 4 + index] = UInt8(truncatingIfNeeded: time >> (16 - 8 * UInt32(index)))
      }
      bytes[place + 7] = UInt8(time >> 24)
      place += 11 + size + 4
    }
    try Data(bytes).write(to: URL(fileURLWithPath: source))
    #expect(try FFmpegTool.packets(source, "v:0").contains { ($0.time ?? 0) < 0 })
    for reencode in [ReencodeRule.auto, .always] {
      let run = try Transcoded(source, to: scratch.path("out.mp4")) {
        ($0.reencode, $0.overwrites) = (reencode, true)
      }
      let frames = try FFmpegTool.frames(run.path)
      #expect(frames.count == 25, "\(reencode)")
      #expect(abs(frames.first?.time ?? 9) < 0.1)
      #expect(try FFmpegTool.packets(run.path, "v:0").allSatisfy { !$0.isDiscarded })
    }
  }
}
