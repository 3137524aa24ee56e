import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightTestSupport

/// Inputs in the containers of cameras, discs and the web that no other test reads. Five seconds.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct ContainerInputTests {
  struct Input: Sendable, CustomTestStringConvertible {
    let name: String
    /// FFmpeg's options.
    let options: String
    var hasAudio = true
    var testDescription: String { name }
  }

  static let inputs = [
    Input(name: "tape.dv", options: "-pix_fmt yuv420p -ar 48000 -ac 2"),
    Input(name: "camera.mxf", options: "-c:v mpeg2video -ar 48000"),
    Input(name: "disc.vob", options: "-b:v 4M"),
    Input(name: "web.ogv", options: "-c:v libtheora -q:v 9 -c:a libvorbis"),
    Input(name: "old.wmv", options: "-b:v 4M"),
    Input(name: "drawn.apng", options: "-an", hasAudio: false),
    Input(name: "drawn.gif", options: "-an", hasAudio: false),
  ]

  @Test("Each is read whole", arguments: inputs)
  func whole(_ input: Input) throws {
    let scratch = try Scratch()
    let path = scratch.path(input.name)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=720x576:r=25:d=1,setsar=16/15 -f lavfi -i sine=d=1:r=48000 "
        + input.options, [path])
    let run = try Transcoded(path, to: scratch.path("out.mp4"))
    #expect(run.result.output.frames == 25)
    #expect(try FFmpegTool.streams(run.path, "audio").count == (input.hasAudio ? 1 : 0))
    let ratios = try FFmpegTool.ratios(
      inputs: ["-i", path, "-i", run.path],
      graph: "[0:v]scale=384:288,format=yuv420p[a];[1:v]scale=384:288,format=yuv420p[b]")
    #expect(ratios.count == 25 && ratios.allSatisfy { $0.luma > 25 }, "\(ratios.map(\.luma))")
  }
}
