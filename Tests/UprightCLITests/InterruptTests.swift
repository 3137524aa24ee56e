import Foundation
import Testing
import UprightTestSupport

@Suite("Ctrl-C, SIGTERM and SIGHUP", .realTime, .tags(.lengthy))
struct InterruptTests {
  static let outputs = [
    "out.mp4", "out.m3u8", "out.ts", "out.mkv", "out.flv", "-", "out.m3u8 --hls-segments ts",
    "out.mkv --split",
  ]

  /// Each output with both signals. In the first half each output is there once.
  static let stops: [(String, CInt)] = [0, 1].flatMap { shift in
    outputs.enumerated().map { ($1, ($0 + shift) % 2 == 0 ? SIGINT : SIGTERM) }
  }

  /// Splits an output's name from the options after it.
  private static func words(_ output: String) -> (name: String, options: [String]) {
    let words = output.words
    return (words[0], Array(words.dropFirst()))
  }

  @Test(
    "Once: buffered frames are finished, the partial file is playable, exit status 130 or 143",
    arguments: Loop.cases(stops, test: outputs.count))
  func once(_ wanted: String, _ signal: CInt) throws {
    let (name, options) = Self.words(wanted)
    let scratch = try Scratch()
    let long = try longClip(in: scratch)
    let output = name == "-" ? "-" : scratch.path(name)
    let report = scratch.path("r.json")
    let program = try CommandLineProgram(
      [
        "transcode", long, "-o", output, "--segment", "1", "--report", report, "--strict",
        "--trace", scratch.path("trace"),
      ] + options + (name == "-" ? ["--format", "mpegts"] : []))
    try Self.waitForFrames(scratch)
    #expect(program.isRunning)
    program.send(signal)
    let run = try program.wait(timeout: 120)
    #expect(run.status == 128 + Int(signal), "\(run.errors)")
    #expect(run.warnings.isEmpty && !run.errors.contains("error"), "\(run.errors)")
    let played =
      name == "-"
      ? try scratch.file("copy.ts", run.output)
      : scratch.path(
        options == ["--split"]
          ? "out-0.partial.mkv" : name.replacing("out.", with: "out.partial."))
    let count = try frames(played)
    #expect(count > 0 && count < 9000)
    #expect(try json(report)["output"]["frames"].int == count)
    if name == "out.m3u8" { #expect(try Playlist(path: played).isEnded) }
    #expect(!scratch.names.contains(name), "\(scratch.names)")
    #expect(name == "-" || run.errors.contains("stopped at "), "\(run.errors)")
    #expect(scratch.leftovers.isEmpty, "\(scratch.names)")
  }

  @Test(
    "Twice: the run ends immediately and leaves no temporary files",
    arguments: [
      "out.mp4", "out.m3u8", "out.ts", "out.m3u8 --hls-segments ts", "out.mkv --split",
    ])
  func twice(_ wanted: String) throws {
    let (name, options) = Self.words(wanted)
    let scratch = try Scratch()
    let long = try longClip(in: scratch)
    // So many frames are buffered that finishing them takes much longer than the pause between the signals.
    let program = try CommandLineProgram(
      [
        "transcode", long, "-o", scratch.path(name), "--speed", "veryslow", "--encoder-options",
        "rc-lookahead=250", "--report", scratch.path("r.json"), "--trace", scratch.path("trace"),
      ] + options)
    try Self.waitForFrames(scratch)
    // The kernel merges pending signals of the same kind, of a process that doesn't get to run.
    while program.isRunning {
      program.send(SIGINT)
      usleep(100_000)
    }
    let run = try program.wait(timeout: 120)
    // Only a run that is finished writes its report.
    #expect(!scratch.names.contains("r.json"))
    #expect(run.status == 130)
    #expect(scratch.leftovers.isEmpty, "\(scratch.names)")
    if name == "out.m3u8" {
      if scratch.names.contains(name) { _ = try Playlist(path: scratch.path(name)) }
    } else {
      #expect(scratch.names == ["long.mp4", "trace"])
    }
  }

  @Test("SIGHUP with --keep-partial: the file keeps its name")
  func kept() throws {
    let scratch = try Scratch()
    let program = try CommandLineProgram([
      "transcode", try longClip(in: scratch), "-o", scratch.path("out.ts"), "--keep-partial",
      "--trace", scratch.path("trace"),
    ])
    try Self.waitForFrames(scratch)
    program.send(SIGHUP)
    #expect(try program.wait(timeout: 120).status == 129)
    #expect(try frames(scratch.path("out.ts")) > 0)
  }

  @Test(
    "A second run with the same output is refused while the first one writes; a later one cleans up"
  )
  func busy() throws {
    let scratch = try Scratch()
    let long = try longClip(in: scratch)
    let words = ["transcode", long, "-o", scratch.path("out.mp4")]
    let program = try CommandLineProgram(words + ["--trace", scratch.path("trace")])
    try Self.waitForFrames(scratch)
    let second = try CommandLineProgram(words).wait()
    #expect(second.status == 73 && second.errors.contains("writing this file"), "\(second.errors)")
    program.send(SIGKILL)
    _ = try program.wait()
    #expect(scratch.names.contains { $0.hasSuffix(".part") })
    let third = try CommandLineProgram(words + ["--to", "0.5"]).wait(timeout: 120)
    #expect(third.status == 0, "\(third.errors)")
    #expect(!scratch.names.contains { $0.hasSuffix(".part") }, "\(scratch.names)")
  }

  @Test("SIGKILL: no file has the final name")
  func killed() throws {
    let scratch = try Scratch()
    let long = try longClip(in: scratch)
    let program = try CommandLineProgram([
      "transcode", long, "-o", scratch.path("out.mp4"), "--trace", scratch.path("trace"),
    ])
    try Self.waitForFrames(scratch)
    program.send(SIGKILL)
    #expect(try program.wait().signal == Int(SIGKILL))
    #expect(!scratch.names.contains("out.mp4"))
  }

  @Test("A run whose input sends no data can be stopped", arguments: [SIGINT, SIGTERM])
  func silence(_ signal: CInt) throws {
    let scratch = try folderWithOutput()
    let before = scratch.contents
    let program = try CommandLineProgram(
      ["transcode", "-", "-o", scratch.path("out.mp4"), "-y"], input: .silence)
    // From here on a signal waits until it is handled.
    let deadline = Date(timeIntervalSinceNow: 60)
    while !program.blocks(signal), Date() < deadline { usleep(1000) }
    program.send(signal)
    let run = try program.wait(timeout: 60)
    #expect(run.status == 128 + Int(signal), "\(run.errors)")
    #expect(scratch.contents == before)
  }

  /// Waits until the first frame has been turned, however busy the machine: the trace then has its
  /// first format. Then waits a little longer, so that some frames have been encoded.
  private static func waitForFrames(_ scratch: Scratch) throws {
    let deadline = Date(timeIntervalSinceNow: 60)
    while (try? Data(contentsOf: URL(fileURLWithPath: scratch.path("trace"))).isEmpty) ?? true {
      try #require(Date() < deadline, "no frame in a minute")
      usleep(20_000)
    }
    usleep(500_000)
  }
}
