import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightMedia
import UprightTestSupport

/// Frames that are shown for longer than the others.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct HeldFrameTests {
  /// Writes 13 frames of 40 ms: with `first` the first one lasts two seconds, otherwise the last one in the
  /// order of decoding does, so that the track lasts 2.5 s.
  private static func held(first: Bool, _ scratch: Scratch) throws -> String {
    let path = scratch.path("held.mp4")
    var clip = try EncodedClip(.h264, frames: 13, gop: 13, bFrames: first ? 0 : 2)
    if first {
      for index in clip.samples.indices.dropFirst() {
        clip.samples[index].dts += 2 * clip.timescale - clip.frame
        clip.samples[index].pts += 2 * clip.timescale - clip.frame
      }
    }
    var movie = clip.movie
    if !first { movie.lastDuration = clip.timescale * 5 / 2 - 12 * clip.frame }
    try movie.write(to: path)
    return path
  }

  /// Returns the length of the video by its sample table and by its header, in seconds.
  private static func lengths(_ path: String) throws -> [Double] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    func place(_ type: String) throws -> Int {
      try #require(bytes.indices.dropLast(4).first { bytes[$0..<$0 + 4].elementsEqual(type.utf8) })
    }
    let table = try place("stts")
    let sum = (0..<number(table + 8)).reduce(0) {
      $0 + number(table + 12 + $1 * 8) * number(table + 16 + $1 * 8)
    }
    let header = try place("mdhd")
    return [sum, number(header + 20)].map { Double($0) / Double(number(header + 16)) }
  }

  @Test("--start and --to cut a held frame, and it is shown from the start on")
  func cut() throws {
    let scratch = try Scratch()
    let source = try Self.held(first: true, scratch)
    let end = try Transcoded(source, to: scratch.path("end.mp4")) { $0.end = 1.5 }
    #expect(try Self.lengths(end.path) + [end.result.output.duration] == [1.5, 1.5, 1.5])
    #expect(end.result.output.frames == 1)
    let start = try Transcoded(source, to: scratch.path("start.mp4")) { $0.start = 1 }
    let times = try FFmpegTool.frames(start.path).compactMap(\.time)
    #expect(times.count == 13)
    let expected = [0] + (0..<12).map { 1 + Double($0) / 25 }
    for (time, expected) in zip(times, expected) { #expect(abs(time - expected) < 0.001) }
    // A frame that isn't held is not shown for a part of its time.
    let plain = try Transcoded(source, to: scratch.path("plain.mp4")) { $0.start = 2.05 }
    #expect(plain.result.output.frames == 10)
    #expect(throws: UprightError.self) {
      _ = try Transcoded(source, to: scratch.path("none.mp4")) { $0.start = 2.479 }
    }
  }

  @Test("The last frame's duration is in table and header, whatever the order of decoding")
  func last() throws {
    let scratch = try Scratch()
    let source = try Self.held(first: false, scratch)
    for name in ["out.mp4", "out.mov"] {
      for reencode in [ReencodeRule.always, .auto] {
        let run = try Transcoded(source, to: scratch.path(name)) {
          ($0.reencode, $0.overwrites) = (reencode, true)
        }
        #expect(try Self.lengths(run.path) == [2.5, 2.5], "\(name) \(reencode)")
      }
    }
    let copy = try Transcoded(source, to: scratch.path("out.mkv")) { $0.upright = .metadata }
    let stream = try #require(FFmpegTool.streams(copy.path, "video").first)
    #expect(stream["r_frame_rate"].string == "25/1", "Matroska's default duration of a frame")
    let playlist = try Transcoded(source, to: scratch.path("out.m3u8"))
    let text = try String(contentsOfFile: playlist.path, encoding: .utf8)
    let durations = text.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }
      .compactMap { Double($0.dropFirst(8).prefix { $0 != "," }) }
    #expect(abs(durations.reduce(0, +) - 2.5) < 0.01, "\(durations)")
  }
}
