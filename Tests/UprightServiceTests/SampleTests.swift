import Foundation
import Testing
import UprightTestSupport

@testable import UprightService

extension LiveServiceMedia {
  @Suite("Samples for backends", .enabled(if: ExternalTool("python3").isHere, "needs python3"))
  struct SampleTests {
    /// The unmodified `Samples/live/app_life.py` with a service of the test.
    @Test("An app's life: publish, turn, change the policy, push, record, leave")
    func life() async throws {
      let service = try await RunningService(engine: LiveServiceFixture.engine(.sensor(.init())))
      let script = Fixtures.packageRoot.appendingPathComponent("Samples/live/app_life.py").path
      let sample = try RunningProgram(
        ExternalTool("python3"), [script],
        environment: [
          "UPRIGHT_URL": "http://127.0.0.1:\(service.service.port ?? 0)",
          "UPRIGHT_TOKEN": RunningService.token, "RTMP_PORT": "\(try Loopback.freeTCPPort())",
        ])
      #expect(try await RunningService.onThread { sample.wait(seconds: 90) } == 0, "\(sample.said)")
      for line in [
        "live: portrait, 90x160", "turned: landscapeRight", "stopped the push: stopped",
        "finished take.mp4: ", "2 changes of format, dropped {}",
      ] { #expect(sample.said.contains(line), "\(line) isn't in:\n\(sample.said)") }
      let name = try #require(sample.said.firstMatch(of: /created (app-[0-9]+): watch (\S+)/))
      #expect(
        String(name.2)
          == "http://127.0.0.1:\(service.service.port ?? 0)/live/\(name.1)/index.m3u8")
      // The recording, and what the other server received.
      let recording = service.scratch.path("data/recordings/\(name.1)/take.mp4")
      let frames = try await RunningService.onThread { try FFmpegTool.frames(recording) }
      #expect(frames.count >= 60)
      let pushed = service.scratch.path("data/live/\(name.1)-server/index.m3u8")
      #expect(try await RunningService.onThread { try FFmpegTool.frames(pushed) }.count >= 30)
      try await service.shutDown()
    }
  }
}
