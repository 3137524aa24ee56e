import Foundation
import Testing
@testable import UprightFiles
import UprightOrientation
import UprightMedia
import UprightTestSupport

/// Pieces that were put together, each with a clock of its own. About a second.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct JoinedPiecesTests {
  private static let piece =
    "-v error -f lavfi -i testsrc2=s=128x96:r=30:d=2 -f lavfi -i sine=r=48000:d=2 -c:v libx264 "
    + "-preset ultrafast -bf 2 -g 30 -c:a aac"

  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func write(_ data: Data, _ name: String) throws -> String {
    let path = scratch.path(name)
    try data.write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Writes a playlist of segments; an empty name is a discontinuity.
  private func playlist(_ names: [String], map: [String] = []) throws -> String {
    var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n"
    var maps = map[...]
    if let first = maps.popFirst() { text += "#EXT-X-MAP:URI=\"\(first)\"\n" }
    for name in names {
      if name.isEmpty {
        text += "#EXT-X-DISCONTINUITY\n"
        if let next = maps.popFirst() { text += "#EXT-X-MAP:URI=\"\(next)\"\n" }
      } else {
        text += "#EXTINF:2,\n\(name)\n"
      }
    }
    return try write(Data((text + "#EXT-X-ENDLIST\n").utf8), "list.m3u8")
  }

  private func piece(_ name: String, _ more: [String] = []) throws -> String {
    let path = scratch.path(name)
    try FFmpegTool.run(Self.piece, more + [path])
    return path
  }

  /// Checks that an input has two pieces of two seconds, one behind the other.
  private func check(_ input: String) throws {
    for reencode in [ReencodeRule.auto, .always] {
      let run = try Transcoded(input, to: scratch.path("out.mp4")) {
        ($0.reencode, $0.overwrites) = (reencode, true)
        $0.quick()
      }
      #expect(run.report["warnings"].array.isEmpty, "\(run.report["warnings"])")
      let times = try FFmpegTool.frames(run.path).compactMap(\.time)
      #expect(times.count == 120)
      for (index, time) in times.enumerated() {
        // The second piece begins where the first one's frames or audio ended.
        let late = time - (times.first ?? 0) - Double(index) / 30
        #expect((-0.001...0.1).contains(late), "frame \(index): \(late)")
      }
      let audio = try FFmpegTool.packets(run.path, "a:0")
      #expect(audio.count >= 186)
      #expect(abs((audio.last?.time ?? 0) - 4) < 0.1)
    }
  }

  @Test("Transport streams that were put together, in a file and in a playlist")
  func resets() throws {
    let one = try piece("1.ts")
    let two = try piece("2.ts", ["-output_ts_offset", "0.5"])
    let both =
      try Data(contentsOf: URL(fileURLWithPath: one))
      + Data(contentsOf: URL(fileURLWithPath: two))
    let joined = try write(both, "both.ts")
    try check(joined)
    let source = try SegmentSource(input: joined)
    var bytes = try source.initSegment(0)
    for index in source.segments.indices.reversed() { _ = try source.segment(index) }
    for index in source.segments.indices { bytes += try source.segment(index) }
    let played = try write(Data(bytes), "segments.mp4")
    #expect(try FFmpegTool.frames(played).count == 120)
    let heard = try FFmpegTool.packets(played, "a:0").compactMap(\.time)
    #expect(heard.count >= 186 && abs((heard.last ?? 0) - 4) < 0.1, "\(heard.count)")
    // Where the pieces meet, a packet may overlap the one before.
    for (before, after) in zip(heard, heard.dropFirst()) {
      #expect(after > before && after - before < 0.03, "\(before) \(after)")
    }
    try check(try playlist(["1.ts", "", "2.ts"]))
  }

  @Test("A playlist's clock may go forward at a discontinuity, and stay what it is at another")
  func forward() throws {
    _ = try piece("1.ts")
    _ = try piece("2.ts", ["-output_ts_offset", "100"])
    try check(try playlist(["", "1.ts", "", "2.ts"]))
  }

  /// Writes a piece as segments of a second, `init-INDEX.mp4` and `INDEX-0.m4s`, ...
  private func fragments(_ index: Int, _ more: [String] = []) throws {
    _ = try piece(
      "\(index).m3u8",
      more + [
        "-f", "hls", "-hls_segment_type", "fmp4", "-hls_time", "1", "-hls_list_size", "0",
        "-hls_fmp4_init_filename", "init-\(index).mp4",
        "-hls_segment_filename", scratch.path("\(index)-%d.m4s"),
      ])
  }

  private static let fragmentNames = ["1-0.m4s", "1-1.m4s", "", "2-0.m4s", "2-1.m4s"]

  @Test("Fragmented MP4 whose clock is reset at a discontinuity")
  func fragmented() throws {
    for index in [1, 2] { try fragments(index) }
    try check(try playlist(Self.fragmentNames, map: ["init-1.mp4", "init-2.mp4"]))
  }

  // 3 s together.
  @Test(
    "Fragmented MP4 with a decoder configuration for each piece, as libavformat doesn't read it",
    arguments: [
      ["-profile:v", "main"], ["-vf", "transpose=1"],
      ["-c:v", "libx265", "-x265-params", "log-level=1"],
    ])
  func configurations(_ second: [String]) throws {
    let isHEVC = second.contains("libx265")
    let first = isHEVC ? second + ["-vf", "hflip"] : ["-preset", "medium"]
    try fragments(1, first)
    try fragments(2, isHEVC ? second + ["-crf", "20", "-tune", "grain"] : second)
    // The first piece again, which needs its sets after those of the second one.
    let names = Self.fragmentNames + ["", "1-0.m4s", "1-1.m4s"]
    let maps = ["init-1.mp4", "init-2.mp4", "init-1.mp4"]
    let list = try playlist(names, map: maps)
    let run = try Transcoded(list, to: scratch.path("out.mkv"))
    #expect(run.report["warnings"].array.isEmpty, "\(run.report["warnings"])")
    #expect(try FFmpegTool.frames(run.path).count == 180)
    try FFmpegTool.run("-xerror -err_detect explode -i \(run.path) -f null -")
    guard !second.contains("-vf") else { return }
    let inputs = [run.path, scratch.path("1.m3u8"), scratch.path("2.m3u8")]
    let ratios = try FFmpegTool.ratios(
      inputs: inputs.flatMap { ["-i", $0] },
      graph: "[1:v]split[b0][b2];[b0][2:v][b2]concat=n=3[b];[0:v]null[a]")
    #expect(ratios.count == 180 && ratios.allSatisfy { $0.luma > 35 })
  }

  @Test("A piece with other tracks than the first one's is refused")
  func otherTracks() throws {
    try fragments(1)
    try fragments(2, ["-ar", "32000"])
    let list = try playlist(Self.fragmentNames, map: ["init-1.mp4", "init-2.mp4"])
    let run = try Transcoded(list, to: scratch.path("out.mp4"))
    let warnings = run.report["warnings"].array.compactMap(\.string)
    #expect(warnings.contains { $0.contains("has other tracks") }, "\(warnings)")
    #expect(throws: UprightError.self) {
      try Transcoded(list, to: scratch.path("strict.mp4")) { $0.isStrict = true }
    }
  }

  @Test("Segments are decrypted with a key of any name")
  func key() throws {
    _ = try write(Data("0123456789abcdef".utf8), "my.key")
    _ = try write(Data("my.key\n\(scratch.path("my.key"))\n".utf8), "info")
    _ = try piece(
      "list.m3u8",
      ["-f", "hls", "-hls_list_size", "0", "-hls_key_info_file", scratch.path("info")])
    let run = try Transcoded(scratch.path("list.m3u8"), to: scratch.path("out.mp4"))
    #expect(run.report["warnings"].array.isEmpty, "\(run.report["warnings"])")
    #expect(try FFmpegTool.frames(run.path).count == 60)
  }

  @Test("A segment that is missing is a loss")
  func missing() throws {
    _ = try piece("1.ts")
    let list = try playlist(["1.ts", "", "none.ts", "", "1.ts"])
    let run = try Transcoded(list, to: scratch.path("out.mp4"))
    let warnings = run.report["warnings"].array.compactMap(\.string)
    #expect(warnings.count == 1 && warnings[0].contains("none.ts can't be read"), "\(warnings)")
    #expect(throws: UprightError.self) {
      try Transcoded(list, to: scratch.path("strict.mp4")) { $0.isStrict = true }
    }
    let found = try FileCheck.media(list, .playlist)
    #expect(found.problems.map(\.kind) == [.playlist], "\(found.problems)")
  }

  @Test("Subtitles that a playlist of playlists lists beside the variants are named as left out")
  func renditions() throws {
    _ = try piece("1.ts")
    _ = try playlist(["1.ts"])
    let list = try write(
      Data(
        """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="text.m3u8"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="Captions",INSTREAM-ID="CC1"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,SUBTITLES="s",CLOSED-CAPTIONS="c"
        list.m3u8

        """.utf8), "main.m3u8")
    let run = try Transcoded(list, to: scratch.path("out.mp4"))
    let dropped = run.report["output"]["dropped"].array.compactMap(\.string)
    #expect(dropped == ["subtitles \"English\": renditions of this kind can't be read"])
  }

  @Test(
    "AAC of a transport stream is described in the header",
    arguments: ["out.mkv", "out.mp4", "out.flv"])
  func audioHeader(_ name: String) throws {
    for delay in ["0", "0.9"] {
      let path = try piece("late.ts", ["-af", "asetpts=PTS+\(delay)/TB", "-y"])
      let run = try Transcoded(path, to: scratch.path(name)) { $0.overwrites = true }
      // A header over which others were written has more streams.
      let streams = try FFmpegTool.streams(run.path)
      #expect(streams.map { $0["codec_name"].string } == ["h264", "aac"], "\(delay)")
      #expect(streams.last?["sample_rate"].string == "48000")
      #expect(try FFmpegTool.frames(run.path, specifier: "a:0").count >= 90 - 45)
    }
  }
}
