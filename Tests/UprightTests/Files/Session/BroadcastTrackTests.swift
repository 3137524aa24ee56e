import Foundation
import Testing
import UprightFiles
import UprightOrientation
import UprightMedia
import UprightTestSupport

/// The tracks of transport streams as broadcasters make them. About a second.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct BroadcastTrackTests {
  /// Writes subtitles that are pictures, as Blu-ray discs have them (PGS): one from 0.5 s to 1.5 s.
  private static func pictures(_ path: String) throws {
    let be = MovieWriter.be
    func segment(_ type: Int, _ time: Double, _ content: [UInt8]) -> [UInt8] {
      Array("PG".utf8) + be(Int(time * 90_000), 4) + be(0, 4) + be(type, 1) + be(content.count, 2)
        + content
    }
    func composition(_ number: Int, _ objects: [UInt8], _ state: Int) -> [UInt8] {
      be(128, 2) + be(96, 2) + be(0x10, 1) + be(number, 2) + be(state, 1) + be(0, 2)
        + be(objects.count / 8, 1) + objects
    }
    let window = be(1, 1) + be(0, 1) + be(20, 2) + be(70, 2) + be(40, 2) + be(10, 2)
    // Runs of 40 pixels in the first colour, each line with its end.
    let lines = (0..<10).flatMap { _ in [0, 0x80 | 40, 1, 0, 0] as [UInt8] }
    let object = be(0, 2) + be(0, 1) + be(0xC0, 1) + be(lines.count + 4, 3) + be(40, 2) + be(10, 2)
    let shown =
      segment(0x16, 0.5, composition(0, be(0, 2) + be(0, 2) + be(20, 2) + be(70, 2), 0x80))
      + segment(0x17, 0.5, window) + segment(0x14, 0.5, be(0, 2) + [1, 235, 128, 128, 255])
      + segment(0x15, 0.5, object + lines) + segment(0x80, 0.5, [])
    let cleared = segment(0x16, 1.5, composition(1, [], 0)) + segment(0x17, 1.5, window)
    try Data(shown + cleared + segment(0x80, 1.5, [])).write(to: URL(fileURLWithPath: path))
  }

  @Test("DVB subtitles are copied", arguments: ["out.ts", "out.mkv"])
  func subtitles(_ name: String) throws {
    let scratch = try Scratch()
    let (pictures, input) = (scratch.path("in.sup"), scratch.path("in.ts"))
    try Self.pictures(pictures)
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=128x96:r=25:d=2 -i \(pictures) -map 0:v -map 1:s -c:v libx264 -g 25 "
        + "-c:s dvbsub -metadata:s:s:0 language=deu", [input])
    let run = try Transcoded(input, to: scratch.path(name))
    #expect(run.result.output.dropped.isEmpty, "\(run.result.output.dropped)")
    let stream = try FFmpegTool.streams(run.path, "subtitle")[0]
    #expect(stream["codec_name"].string == "dvb_subtitle")
    #expect(["deu", "ger"].contains(stream["tags"]["language"].string))
    let given = try FFmpegTool.packets(input, "s:0", hashes: true)
    let kept = try FFmpegTool.packets(run.path, "s:0", hashes: true)
    #expect(given.count >= 2 && kept.map(\.size) == given.map(\.size))
    let start = try FFmpegTool.packets(input, "v:0").compactMap(\.time).min() ?? 0
    let zero = try FFmpegTool.packets(run.path, "v:0").compactMap(\.time).min() ?? 0
    for (one, other) in zip(given, kept) {
      #expect(abs((one.time ?? 0) - start - (other.time ?? 0) + zero) < 0.002)
    }
  }

  @Test("Tracks of other programs are left out, and named")
  func programs() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.ts")
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=128x96:r=25:d=1 -f lavfi -i sine=d=1 -f lavfi -i testsrc2=s=64x48:r=25:d=1 "
        + "-f lavfi -i sine=f=880:d=1 -map 0 -map 1 -map 2 -map 3 -c:v libx264 -c:a aac "
        + "-program st=0:st=1 -program st=2:st=3", [input])
    for name in ["out.ts", "out.mp4", "out.mkv"] {
      let run = try Transcoded(input, to: scratch.path(name))
      let kinds = try FFmpegTool.streams(run.path).compactMap { $0["codec_type"].string }
      #expect(kinds == ["video", "audio"], "\(name)")
      let dropped = run.result.output.dropped
      #expect(dropped.contains { $0.contains("of another program") }, "\(dropped)")
    }
  }
}
