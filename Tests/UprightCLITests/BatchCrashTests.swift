import Foundation
import Testing
import UprightTestSupport

@Suite("Several inputs, one of which crashes its process")
struct BatchCrashTests {
  /// A run of three inputs, one after another. The first one is a pipe into which nobody writes, so that its process
  /// waits until it is killed.
  private final class Stage {
    let scratch: Scratch
    let program: CommandLineProgram
    let child: pid_t
    private let pipe: CInt

    init(_ options: [String] = []) throws {
      scratch = try Scratch()
      let path = scratch.path("pipe.ts")
      #expect(mkfifo(path, 0o600) == 0)
      pipe = open(path, O_RDWR | O_CLOEXEC)
      _ = try scratch.copy(Clip.lying, as: "a.mp4")
      _ = try scratch.copy(Clip.turning, as: "b.mp4")
      // A Swift program that prints its backtrace goes on after a signal that was sent to it.
      program = try CommandLineProgram(
        ["transcode"] + options + [
          "--jobs", "1", "-o", scratch.path("out"), "--", path, scratch.path("a.mp4"),
          scratch.path("b.mp4"),
        ], environment: ["SWIFT_BACKTRACE": "enable=no"])
      let deadline = Date(timeIntervalSinceNow: 60)
      while program.children.isEmpty {
        try #require(Date() < deadline, "no child process in a minute")
        usleep(5000)
      }
      child = try #require(program.children.first)
    }

    deinit { close(pipe) }
  }

  @Test(
    "It has failed with 70 and the signal, and the others are complete",
    arguments: [(SIGSEGV, "SIGSEGV"), (SIGKILL, "SIGKILL")])
  func killed(signal: CInt, name: String) throws {
    let stage = try Stage(["--to", "1", "--speed", "ultrafast", "--report", "-"])
    #expect(kill(stage.child, signal) == 0)
    let run = try stage.program.wait(timeout: 60)
    #expect(run.status == 70, "\(run.errors)")
    let errors = run.lines.filter { $0.hasPrefix("upright: error: ") }
    #expect(errors.count == 1 && errors[0].contains("pipe.ts"), "\(run.errors)")
    #expect(errors.first?.contains("ended by \(name)") == true, "\(run.errors)")
    #expect(run.lines.last?.hasPrefix("upright: 2 of 3 inputs done, 1 failed: ") == true)
    for name in ["a", "b"] { #expect(try frames(stage.scratch.path("out/\(name).mp4")) == 30) }
    #expect(run.json.array.map { $0["output"]["frames"].int } == [nil, 30, 30])
    #expect(run.json[0]["error"]["exit"].int == 70)
    let schema = try JSONSchema(text: Upright.run(["schema", "report"]).text)
    #expect(schema.fault(in: run.json) == nil)
  }

  @Test("No process is left when the command itself is killed")
  func orphans() throws {
    let stage = try Stage()
    stage.program.send(SIGKILL)
    #expect(try stage.program.wait(timeout: 10).signal == Int(SIGKILL))
    let deadline = Date(timeIntervalSinceNow: 30)
    while CommandLineProgram.isRunning(stage.child) {
      try #require(Date() < deadline, "the child process still runs")
      usleep(5000)
    }
  }
}
