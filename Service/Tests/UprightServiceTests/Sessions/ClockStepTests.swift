import Foundation
import Testing
import UprightServiceTestSupport

/// The wall clock of the service is set, as by an administrator or after a long time without a network.
@Suite(
  "Steps of the wall clock", .enabled(if: FFmpegTool.isHere && ExternalTool("cc").isHere), .server,
  .serialized)
struct ClockStepTests {
  /// A wall clock that can be set, for one process.
  private struct WallClock {
    private let file: String
    let environment: [String: String]

    init(_ scratch: Scratch) throws {
      file = scratch.path("clock-step")
      let library = scratch.path("clock-step.so")
      let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("C/clock-step.c").path
      let compiled = try ExternalTool("cc").outcome(
        ["-O2", "-shared", "-fPIC", "-DSTEP_FILE=\"\(file)\"", "-o", library, source, "-ldl"])
      #expect(compiled.status == 0, "\(compiled.errors)")
      try Data(count: 8).write(to: URL(fileURLWithPath: file))
      environment = ["LD_PRELOAD": library]
    }

    /// Sets the clock to `hours` after the system's.
    func set(hours: Int) throws {
      let step = Int64(hours) * 3600 * 1_000_000_000
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
      try handle.write(contentsOf: withUnsafeBytes(of: step) { Data($0) })
      try handle.close()
    }
  }

  private static let names = ["live", "lost", "waiting"]

  private static func session(_ name: String, _ port: Int) -> String {
    """
    {"name": "\(name)", "input": {"url": "\(address(name, port))"},
     "outputs": [{"type": "hls"}, {"type": "file", "name": "take.ts"}], "inputTimeout": 600,
     "options": {"frames": "sensor", "size": "90x160", "speed": "ultrafast", "segment": 1}}
    """
  }

  private static func address(_ name: String, _ port: Int) -> String {
    "rtmp://127.0.0.1:\(port)/live/key-of-\(name)"
  }

  private static func publisher(_ name: String, _ port: Int) throws -> Publisher {
    let sources =
      "-f lavfi -i testsrc2=size=160x90:rate=15 -re -f lavfi -i sine=frequency=440:sample_rate=44100"
    let coding = "-t 300 -c:v libx264 -preset ultrafast -tune zerolatency -g 15 -c:a aac"
    return try Publisher((sources + " " + coding).words, to: address(name, port))
  }

  @Test(
    "An hour forth and back: frames go on, live or lost, requests are answered, and the service ends",
    arguments: [1, -1])
  func step(_ hours: Int) async throws {
    let scratch = try Scratch()
    let clock = try WallClock(scratch)
    let port = try Loopback.freeTCPPort()
    let service = try await ServiceProcess(
      scratch, sessions: Self.names.map { Self.session($0, port) },
      environment: clock.environment)
    func frames(_ name: String) async throws -> Int {
      try await service.session(name)["counters"]["framesOut"].int ?? 0
    }
    func state(_ name: String) async throws -> String? {
      try await service.session(name)["state"].string
    }
    let live = try Self.publisher("live", port)
    defer { live.kill() }
    let lost = try Self.publisher("lost", port)
    for name in ["live", "lost"] {
      #expect(try await waitUntil { try await frames(name) >= 30 })
    }
    lost.kill()
    #expect(try await waitUntil { try await state("lost") == "inputLost" })

    for offset in [hours, 0, -hours] {
      try clock.set(hours: offset)
      for name in ["live", "lost"] {
        let before = try await frames(name)
        #expect(
          try await waitUntil { try await frames(name) >= before + 30 },
          "\(name), \(offset) h")
      }
      for name in Self.names {
        let changed = try await service.ask(
          "PATCH", "/v1/sessions/\(name)", "{\"options\": {\"background\": \"ffffff\"}}")
        #expect(changed.status == 200, "\(name), \(offset) h: \(changed.text)")
      }
    }
    #expect(try await state("live") == "live")

    // A publisher comes back, and a session ends, after a step while it waits.
    let back = try Self.publisher("lost", port)
    defer { back.kill() }
    #expect(try await waitUntil { try await state("lost") == "live" })
    back.kill()
    #expect(try await waitUntil { try await state("lost") == "inputLost" })
    try clock.set(hours: 0)
    for name in ["lost", "waiting"] {
      let ended = try await service.ask("DELETE", "/v1/sessions/\(name)")
      #expect(ended.status == 200, "\(name): \(ended.text)")
    }

    // The service drains its last session while the clock is set.
    try clock.set(hours: hours)
    async let end = service.end(SIGTERM)
    try await Task.sleep(for: .milliseconds(20))
    try clock.set(hours: -hours)
    let outcome = try await end
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try await SignalTests.play(scratch.path("data/recordings/live/take.ts")) > 90)
  }
}
