import Foundation
import Testing
import UprightTestSupport

/// What an output lacks of its input is named on the terminal, in the report and by `--dry-run`.
@Suite("What is left out is named")
struct LedgerTests {
  private static func clip(_ path: String, _ options: String = "") throws {
    try FFmpegTool.run(
      "-f lavfi -i testsrc2=s=96x64:r=10:d=0.5 -f lavfi -i sine=d=0.5 -f lavfi -i sine=d=0.5 -map 0 -map 1 "
        + "-map 2 -c:v libx264 -g 5 -bf 0 -c:a aac \(options)", [path])
  }

  /// Runs a transcode and checks that terminal, report and dry run name the same. Returns what is named.
  private static func dropped(
    _ scratch: Scratch, _ input: String, to output: String, _ options: [String] = []
  ) throws -> [String] {
    let report = scratch.path("report.json")
    let arguments = ["transcode", input, "-o", scratch.path(output), "--overwrite"] + options
    let run = try CommandLineProgram(arguments + ["--report", report]).wait(timeout: 60)
    #expect(run.status == 0, "\(run.errors)")
    let json = try JSONDecoder().decode(
      JSON.self, from: try Data(contentsOf: URL(fileURLWithPath: report)))
    let dropped = json["output"]["dropped"].array.compactMap(\.string)
    for line in dropped {
      #expect(run.warnings.contains { $0.hasSuffix("left out: \(line)") }, "\(line): \(run.errors)")
    }
    let dry = try CommandLineProgram(arguments + ["--dry-run"]).wait(timeout: 60)
    let planned = dry.text.split(separator: "\n").filter { $0.hasPrefix("dropped ") }
    #expect(planned.map { String($0.dropFirst(8)) } == dropped, "\(dry.text)")
    return dropped
  }

  // 1 s for all.
  @Test(
    "A codec that FFmpeg doesn't know is named by the container's code",
    // FFmpeg 9 has names of two of them.
    arguments: [["apac", "apple_apac"], ["qdmX"], ["ac-4", "ac4"], ["zzzz"]])
  func audioCodes(_ names: [String]) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    try Self.clip(input)
    // Without the box that says AAC: the fields of QuickTime's version 1 alone.
    try MoviePatch.entry(of: 2, in: input) { MovieWriter.box(names[0], Array($0[8..<52])) }
    let dropped = try Self.dropped(scratch, input, to: "out.mp4")
    let isNamed = names.contains { dropped.first?.hasPrefix("stream 2 (audio, \($0))") == true }
    #expect(dropped.count == 1 && isNamed, "\(dropped)")
  }

  @Test(
    "A video codec without a decoder is refused by its name", arguments: ["vvc1", "dav1", "xvs3"])
  func videoCodes(_ code: String) throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mov")
    try Self.clip(input)
    try MoviePatch.rename(entryOf: 0, to: code, in: input)
    let run = try CommandLineProgram(["transcode", input, "-o", scratch.path("out.mp4")])
      .wait(timeout: 60)
    // FFmpeg 7.1 and later decode VVC, which these samples aren't.
    let decoders = try ExternalTool("ffmpeg").run(["-hide_banner", "-decoders"]).text
    guard code != "vvc1" || !decoders.contains(" vvc ") else {
      #expect(run.status == 65 && run.errors.contains("no frame can be decoded"), "\(run.errors)")
      return
    }
    #expect(run.status == 69 && run.errors.contains("cannot decode \(code)"), "\(run.errors)")
  }

  @Test("A second audio track, chapters and data in containers that don't store them")
  func containers() throws {
    let scratch = try Scratch()
    let (input, chapters) = (scratch.path("in.mov"), scratch.path("chapters"))
    let text = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
    try text.write(toFile: chapters, atomically: true, encoding: .utf8)
    try Self.clip(scratch.path("plain.mov"))
    try FFmpegTool.run(
      "-i \(scratch.path("plain.mov")) -i \(chapters) -map 0 -map_metadata 1 -map_chapters 1 -c copy",
      [input])
    let playlist = try Self.dropped(scratch, input, to: "out.m3u8")
    #expect(playlist.contains("stream 2 (audio, aac): hls carries one audio track"), "\(playlist)")
    #expect(playlist.contains("chapters: not supported in hls"), "\(playlist)")
    let transport = try Self.dropped(scratch, input, to: "out.ts")
    #expect(transport.contains("chapters: not supported in mpegts"), "\(transport)")
    let movie = try Self.dropped(scratch, input, to: "out.mp4")
    #expect(movie.isEmpty, "\(movie)")
  }

  @Test("AV1 to QuickTime is refused as a choice of container, and one frame is 1 frame")
  func words() throws {
    let scratch = try Scratch()
    let input = scratch.path("in.mp4")
    try Self.clip(input)
    let run = try CommandLineProgram(
      ["transcode", input, "--codec", "av1", "-o", scratch.path("out.mov")]
    ).wait(timeout: 60)
    #expect(run.status == 64 && run.errors.contains("mov cannot carry av1"), "\(run.errors)")
    let short = try CommandLineProgram(
      ["transcode", input, "--to", "0.05", "-o", scratch.path("out.mp4")]
    ).wait(timeout: 60)
    #expect(short.errors.contains("out.mp4: 1 frame,"), "\(short.errors)")
  }
}
