import Foundation
import Testing
import UprightFiles
import UprightMediaIO
import UprightOrientation
import UprightPipeline
import UprightTestSupport

/// Copies of inputs whose frames are not all shown, or are decoded later than they are shown.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct EditedCopyTests {
  /// Returns the digests of the decoded frames in presentation order.
  private static func frames(_ path: String) throws -> [String] {
    let output = try FFmpegTool.run([
      "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-",
    ])
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { String($0.split(separator: " ").last ?? "") }
  }

  private static func source(_ scratch: Scratch, _ name: String) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=24:d=2 -c:v libx264 -bf 2 -g 12"
        + " -x264-params scenecut=0:b-adapt=0 -video_track_timescale 12288", [path])
    return path
  }

  @Test("What is hidden at the start stays hidden in a copy to a container with edit lists")
  func start() throws {
    let scratch = try Scratch()
    let path = try Self.source(scratch, "source.mp4")
    let whole = try Self.frames(path)
    let start = try EditListPatch.mediaTimes(of: path)[0]
    try EditListPatch.write([[.init(43 * 1000 / 24, at: 5 * 512 + start)]], to: path)
    let run = try Transcoded(path, to: scratch.path("out.mp4")) { $0.reencode = .never }
    #expect(try Self.frames(run.path) == Array(whole[5...]))
    #expect(throws: UprightError.self) {
      _ = try Transcoded(path, to: scratch.path("out.mkv")) { $0.reencode = .never }
    }
  }

  @Test("Frames that are decoded later than they are shown keep their order in a copy")
  func lateDecoding() throws {
    let scratch = try Scratch()
    let path = try Self.source(scratch, "source.flv")
    // The composition offset follows the type of an AVC packet (E.4.3.1); it becomes 100 ms lower.
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var place = 13
    while place + 16 <= bytes.count {
      let size = bytes[place + 1..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      if bytes[place] == 9, bytes[place + 12] == 1 {
        let offset = bytes[place + 13..<place + 16].reduce(0) { $0 << 8 | Int($1) } - 100
        for index in 0..<3 {
          bytes[place + 13 + index] = UInt8(truncatingIfNeeded: offset >> (16 - 8 * index))
        }
      }
      place += 11 + size + 4
    }
    let whole = try Self.frames(path)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    for name in ["out.mp4", "out.mkv"] {
      let run = try Transcoded(path, to: scratch.path(name))
      #expect(run.report["output"]["copied_frames"].int == 48, "\(name)")
      #expect(try Self.frames(run.path) == whole, "\(name)")
      let times = try FFmpegTool.frames(run.path).compactMap(\.time)
      for (before, after) in zip(times, times.dropFirst()) {
        #expect(abs(after - before - 1.0 / 24) < 0.002, "\(name)")
      }
    }
  }
}
