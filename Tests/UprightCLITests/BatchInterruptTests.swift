import Foundation
import Testing
import UprightTestSupport

@Suite("Ctrl-C and SIGTERM with several inputs", .realTime)
struct BatchInterruptTests {
  /// Starts a run of four long files, two in parallel, and waits until both have written a segment.
  private static func started(
    _ scratch: Scratch, _ options: [String] = []
  ) throws -> (CommandLineProgram, clips: [String]) {
    let long = try longClip(in: scratch)
    let clips = try ["0", "1", "2", "3"].map { try scratch.copy(long, as: "\($0).mov") }
    let program = try CommandLineProgram(
      ["transcode"] + clips + [
        "--jobs", "2", "-o", scratch.path("out"), "--report", scratch.path("report"), "--format",
        "hls", "--segment", "1",
      ] + options)
    // Waits for their first segments.
    let deadline = Date(timeIntervalSinceNow: 120)
    while !["0", "1"].allSatisfy({
      FileManager.default.fileExists(atPath: scratch.path("out/\($0)-0.m4s"))
    }) {
      try #require(Date() < deadline, "no segment in two minutes")
      usleep(20_000)
    }
    return (program, clips)
  }

  @Test(
    "Once: inputs in progress are finished and playable, the others are not started",
    arguments: [SIGINT, SIGTERM])
  func once(signal: CInt) throws {
    let scratch = try Scratch()
    let (program, clips) = try Self.started(scratch)
    #expect(program.isRunning)
    program.send(signal)
    let run = try program.wait(timeout: 120)
    #expect(run.status == 128 + Int(signal), "\(run.errors)")
    #expect(run.warnings.isEmpty && !run.errors.contains("error"), "\(run.errors)")
    #expect(
      run.lines.last?.hasPrefix("upright: 0 of 4 inputs done, 2 stopped, 2 not started: ") == true)
    let report = try json(scratch.path("report"))
    for (index, clip) in clips.enumerated() {
      let output = scratch.path("out/\(index)\(index < 2 ? ".partial" : "").m3u8")
      #expect(report[index]["input"]["path"].string == clip)
      if index < 2 {
        #expect(try Playlist(path: output).isEnded)
        let count = try frames(output)
        #expect(count > 0 && count < 9000)
        #expect(report[index]["output"]["frames"].int == count)
      } else {
        #expect(!FileManager.default.fileExists(atPath: output))
        #expect(report[index]["error"]["code"].string == "cancelled")
      }
    }
    let schema = try JSONSchema(text: Upright.run(["schema", "report"]).text)
    #expect(schema.fault(in: report) == nil)
  }

  @Test("Twice: the run ends immediately and leaves no temporary files")
  func twice() throws {
    let scratch = try Scratch()
    // This preset buffers so many frames that finishing them takes a while.
    let (program, _) = try Self.started(scratch, ["--speed", "veryslow"])
    // The kernel merges two pending signals of the same kind. After a pause the run might have ended.
    program.send(SIGINT)
    program.send(SIGTERM)
    let run = try program.wait(timeout: 120)
    #expect(run.status == 130)
    #expect(!scratch.names.contains("report"))
    let made = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out"))
    #expect(!made.contains { $0.hasSuffix(".part") }, "\(made)")
    for playlist in made where playlist.hasSuffix(".m3u8") {
      _ = try Playlist(path: scratch.path("out/\(playlist)"))
    }
  }
}
