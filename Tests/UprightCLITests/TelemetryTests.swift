import Foundation
import Testing
import UprightTestSupport

/// Telemetry in `upright probe`. Costs a second.
@Suite("Telemetry on the command line", .enabled(if: FFmpegTool.isHere, "needs ffmpeg"))
struct TelemetryProbeTests {
  private static func track(_ type: String, _ samples: [[UInt8]], every ticks: Int)
    -> MovieWriter.Track
  {
    MovieWriter.Track(
      handler: "meta",
      entry: MovieWriter.box(type, MovieWriter.be(0, 6) + MovieWriter.be(1, 2)),
      samples: samples.enumerated().map { index, bytes in .init(bytes, dts: index * ticks) })
  }

  @Test("GPMF and CAMM: how many readings each sensor has, and the first")
  func probe() throws {
    let scratch = try Scratch()
    let clip = try EncodedClip(.h264, frames: 25, gop: 25, bFrames: 0)
    var movie = clip.movie
    let gravity = GPMFWriter.device([
      GPMFWriter.stream(scale: [32767], "GRAV", Array(repeating: [0, 32767, 0], count: 5)),
      GPMFWriter.stream(scale: [100], "ACCL", Array(repeating: [0, -981, 50], count: 40)),
    ])
    movie.tracks.append(
      Self.track("gpmd", Array(repeating: gravity, count: 5), every: 5 * clip.frame))
    // 9.75 m/s² along y.
    let acceleration: [UInt8] = [0, 0, 3, 0] + [0, 0, 0, 0] + [0, 0, 0x1C, 0x41] + [0, 0, 0, 0]
    movie.tracks.append(
      Self.track("camm", Array(repeating: acceleration, count: 25), every: clip.frame))
    let path = scratch.path("take.mp4")
    try movie.write(to: path)
    let found = try Upright.run(["probe", "--json", path])
    #expect(found.status == 0 && found.errors.isEmpty, "\(found.errors)")
    let tracks = found.json["telemetry"].array
    #expect(tracks.map { $0["format"].string } == ["gpmd", "camm"])
    #expect(tracks.map { $0["stream"].int } == [1, 2])
    let sensors = tracks.flatMap { $0["readings"].array }
    #expect(sensors.map { $0["kind"].string } == ["gravity", "acceleration", "acceleration"])
    #expect(sensors.map { $0["count"].int } == [25, 200, 25])
    #expect(
      sensors.map { $0["first"].array.compactMap(\.double) } == [
        [0, 1, 0], [0, -9.81, 0.5], [0, 9.75, 0],
      ])
    let text = try Upright.run(["probe", path]).text
    #expect(text.contains("  telemetry in stream 1, gpmd: 25 of gravity, first (0.0 1.0 0.0); "))
    // A track of telemetry has positions too.
    let kinds = try Upright.run(["check", "--json", path]).json["files"][0]["problems"].array
    #expect(kinds.map { $0["kind"].string } == ["location"])
  }
}
