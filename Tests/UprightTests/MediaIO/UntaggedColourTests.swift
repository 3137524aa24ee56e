import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightMedia
import UprightTestSupport

/// Frames whose colour has no tag.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct UntaggedColourTests {
  @Test("Untagged colour is tagged where players would assume another one")
  func colour() throws {
    let scratch = try Scratch()
    func tag(_ size: String, _ name: String, _ output: PixelSize) throws -> String {
      let input = scratch.path("\(name).mp4")
      try FFmpegTool.run(
        "-f lavfi -i testsrc2=s=\(size):r=25 -frames:v 2 -c:v libx264 -preset ultrafast", [input])
      let run = try Transcoded(input, to: scratch.path("\(name)-out.mp4")) {
        $0.size = .pair(output)
        $0.quick()
      }
      return try FFmpegTool.streams(run.path, "video").first?["color_space"].string ?? "unknown"
    }
    #expect(try tag("320x180", "sd", PixelSize(1280, 720)) == "smpte170m")
    #expect(try tag("352x288", "pal", PixelSize(1280, 720)) == "bt470bg")
    #expect(try tag("320x180", "same", PixelSize(160, 90)) == "unknown")
    #expect(try tag("1280x720", "hd", PixelSize(320, 180)) == "bt709")
  }
}
