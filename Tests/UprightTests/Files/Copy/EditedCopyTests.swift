import Foundation
import Testing
import UprightFiles
import UprightMediaIO
import UprightOrientation
import UprightMedia
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

  @Test(
    "Of a GOP that an edit list cuts, what is shown is encoded, and the others are copied",
    arguments: ["out.mkv", "out.ts", "out.flv", "out.mp4", "out.m3u8"])
  func cut(_ name: String) throws {
    let scratch = try Scratch()
    let path = try Self.source(scratch, "source.mp4")
    let whole = try Self.frames(path)
    let start = try EditListPatch.mediaTimes(of: path)[0]
    let edits: [[Range<Int>]] = [[5..<48], [7..<29], [0..<12, 27..<48], [6..<18, 24..<48]]
    for (index, pieces) in edits.enumerated() {
      let list = pieces.map {
        EditListPatch.Edit(($0.count * 1000 + 12) / 24, at: $0.lowerBound * 512 + start)
      }
      let source = scratch.path("\(index).mp4")
      try FileManager.default.copyItem(atPath: path, toPath: source)
      try EditListPatch.write([list], to: source)
      let run = try Transcoded(source, to: scratch.path("\(index)-\(name)")) { $0.size = .source }
      // What is hidden is no damage.
      #expect(!run.result.warnings.contains { $0.contains("damaged") }, "\(run.result.warnings)")
      let frames = try Self.frames(run.path)
      let shown = pieces.flatMap(Array.init)
      #expect(frames.count == shown.count, "\(pieces)")
      // Whole GOPs of 12 frames are copied, unless an edit list of the output hides what is before them.
      let hidesAll = name == "out.mp4" && index == 0
      let copied = shown.filter { frame in
        let gop = frame / 12 * 12..<frame / 12 * 12 + 12
        return hidesAll || gop.allSatisfy(shown.contains)
      }
      // Segments begin at keyframes of the encoder, and pieces with B-frames step back in decoding time.
      guard name != "out.m3u8", pieces.count == 1 else { continue }
      #expect(run.report["output"]["copied_frames"].int == copied.count, "\(pieces)")
      for (frame, digest) in zip(shown, frames) where copied.contains(frame) {
        #expect(digest == whole[frame], "\(pieces): frame \(frame)")
      }
      let times = try FFmpegTool.frames(run.path).compactMap(\.time)
      for (before, after) in zip(times, times.dropFirst()) {
        #expect(abs(after - before - 1.0 / 24) < 0.0021, "\(pieces): \(before) \(after)")
      }
    }
  }

  /// libavformat hides the packets of a fragment that comes twice. 0.5 s.
  @Test("A last GOP of which all is hidden is left out")
  func hiddenEnd() throws {
    let scratch = try Scratch()
    let path = scratch.path("list.m3u8")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=24:d=1 -c:v libx264 -bf 2 -g 12 -hls_time 0.5 -hls_segment_type fmp4",
      [path])
    let list = try String(contentsOfFile: path, encoding: .utf8)
    let again = "#EXTINF:0.5,\nlist0.m4s\n#EXT-X-ENDLIST"
    try list.replacingOccurrences(of: "#EXT-X-ENDLIST", with: again)
      .write(toFile: path, atomically: true, encoding: .utf8)
    let run = try Transcoded(path, to: scratch.path("out.mp4")) { $0.size = .source }
    #expect(run.report["output"]["copied_frames"].int == 24)
    #expect(try Self.frames(run.path).count == 24)
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
