import Foundation
import Testing
import UprightMedia
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

@testable import UprightFiles

/// `--for`: what is right for a player is chosen where no other option says it.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct DestinationTests {
  /// A clip of two seconds that is turned at its middle, by the sensor's events.
  private static func turning(_ scratch: Scratch, _ codec: String = "libx264") throws -> String {
    let path = scratch.path("in.mp4")
    try FFmpegTool.run(
      "-f lavfi -i \(DecodedFrames.source) -frames:v 60 -c:v \(codec) -tag:v"
        + " \(codec == "libx265" ? "hvc1 -x265-params log-level=none" : "avc1")", [path])
    return path
  }

  private static let turn = #"{"at": 1, "device": "landscapeLeft"}"#

  private static func run(
    _ destination: Destination, _ name: String, _ input: String, _ scratch: Scratch,
    options: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Transcoded {
    try Transcoded(input, to: scratch.path(name), events: turn) {
      $0.destination = destination
      $0.sensor()
      $0.quick()
      options(&$0)
    }
  }

  @Test(
    "The format changes only where the player follows it", .long,
    arguments: [
      (Destination.vlc, "out.ts", false), (.vlc, "out.m3u8", false), (.apple, "out.m3u8", true),
      (.android, "out.ts", true), (.gstreamer, "out.ts", true), (.editors, "out.mov", false),
    ])
  func canvas(_ destination: Destination, _ name: String, _ follows: Bool) throws {
    let scratch = try Scratch()
    let run = try Self.run(destination, name, Self.turning(scratch), scratch)
    let sizes = try DecodedFrames(run.path, scratch).sizes
    #expect(Set(sizes).count == (follows ? 2 : 1))
    // Another option says otherwise.
    let explicit = try Self.run(destination, "x-\(name)", Self.turning(scratch), scratch) {
      $0.canvas = follows ? .landscape : .follow
    }
    #expect(Set(try DecodedFrames(explicit.path, scratch).sizes).count == (follows ? 1 : 2))
  }

  @Test("A codec that isn't played everywhere is replaced, unless it is asked for", .long)
  func codec() throws {
    let scratch = try Scratch()
    let input = try Self.turning(scratch, "libx265")
    func codec(_ destination: Destination, _ wanted: VideoCodec? = nil) throws -> String? {
      let name = "\(destination)-\(wanted?.rawValue ?? "any").mp4"
      let run = try Self.run(destination, name, input, scratch) { $0.codec = wanted }
      return try FFmpegTool.streams(run.path, "video")[0]["codec_name"].string
    }
    #expect(try codec(.browsers) == "h264")
    #expect(try codec(.apple) == "hevc")
    #expect(try codec(.browsers, .hevc) == "hevc")
    // Frames that are upright already aren't copied either.
    let run = try Transcoded(input, to: scratch.path("upright.mp4")) { $0.destination = .browsers }
    #expect(run.report["output"]["copied_frames"].int == 0)
  }

  @Test("Editors get a keyframe each second at a constant rate")
  func editors() throws {
    let scratch = try Scratch()
    let input = scratch.path("uneven.mp4")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=64x36:r=25 -frames:v 75 -vf settb=1/1000,setpts=N*40+not(mod(N\\,4))*9"
        + " -fps_mode passthrough -enc_time_base 1:1000 -c:v libx264 -g 250", [input])
    let run = try Transcoded(input, to: scratch.path("out.mov")) { $0.destination = .editors }
    let frames = try FFmpegTool.frames(run.path)
    let keys = try FFmpegTool.packets(run.path, "v:0").filter(\.isKey).compactMap(\.time)
    #expect(keys.count == 3 && zip(keys, [0, 1, 2]).allSatisfy { abs($0 - keys[0] - $1) < 0.001 })
    let steps = zip(frames, frames.dropFirst()).map { ($1.time ?? 0) - ($0.time ?? 0) }
    #expect(steps.allSatisfy { abs($0 - 0.04) < 0.0005 })
    #expect(try FFmpegTool.streams(run.path, "video")[0]["avg_frame_rate"].string == "25/1")
  }

  @Test("A container that isn't for the player is refused, and the plan says what was chosen")
  func refused() throws {
    let scratch = try Scratch()
    let input = try Self.turning(scratch)
    for (destination, name) in [(Destination.browsers, "out.ts"), (.editors, "out.m3u8")] {
      let error = #expect(throws: UprightError.self) {
        try Self.run(destination, name, input, scratch)
      }
      #expect(error?.location == "--for \(destination)" && error?.code == .usage)
    }
    var options = TranscodeOptions()
    options.destination = .editors
    let session = try TranscodeSession(
      input: input, output: scratch.path("out.mov"), options: options)
    let plan = try session.plan()
    #expect(plan.lines.contains { $0.hasPrefix("for     editors: mov, one canvas") })
  }
}
