import Foundation
import UprightPolicy
import Testing
import UprightServiceTestSupport

@testable import UprightService

extension LiveServiceMedia {
  @Suite("Samples for backends", .enabled(if: ExternalTool("python3").isHere, "needs python3"))
  struct SampleTests {
    /// The unmodified `Samples/live/app_life.py` with a service of the test, which has the template of `app.json`.
    @Test("An app's life: publish, turn, change the policy, push, record, download, leave")
    func life() async throws {
      let port = try Loopback.freeTCPPort()
      let file = Fixtures.packageRoot.appendingPathComponent("Samples/live/app.json")
      let template = try String(contentsOf: file, encoding: .utf8)
        .replacing("127.0.0.1:1935", with: "127.0.0.1:\(port)")
      let declared = try JSONValue(parsing: Data(template.utf8))["sessions"]
      guard case .array(let entries)? = declared else {
        Issue.record("app.json has no sessions")
        return
      }
      let service = try await RunningService(
        { configuration, _ in configuration.sessions = entries },
        make: LiveServiceFixture.make(.sensor(.init())))
      let folder = try Scratch()
      let script = Fixtures.packageRoot.appendingPathComponent("Samples/live/app_life.py").path
      let sample = try RunningProgram(
        ExternalTool("sh"),
        ["-c", "cd \"$0\" && exec python3 \"$1\"", folder.folder.path, script],
        environment: [
          "UPRIGHT_URL": "http://127.0.0.1:\(service.service.port ?? 0)",
          "UPRIGHT_TOKEN": RunningService.token, "RTMP_PORT": "\(port)",
        ])
      #expect(try await RunningService.onThread { sample.wait(seconds: 90) } == 0, "\(sample.said)")
      for line in [
        "is live: portrait, 90x160", "turned: landscapeRight", "stopped the push: stopped",
        "finished take.mp4: ", "2 changes of format, dropped {}",
      ] { #expect(sample.said.contains(line), "\(line) isn't in:\n\(sample.said)") }
      let name = try #require(sample.said.firstMatch(of: /(app-[0-9]+) is live: .*\nwatch (\S+)/))
      #expect(
        String(name.2)
          == "http://127.0.0.1:\(service.service.port ?? 0)/live/\(name.1)/index.m3u8")
      // The recording as it was downloaded, and what the other server received.
      let recording = service.scratch.path("data/recordings/\(name.1)/take.mp4")
      let download = folder.path("\(name.1).mp4")
      #expect(FileManager.default.contentsEqual(atPath: recording, andPath: download))
      let frames = try await RunningService.onThread { try FFmpegTool.frames(download) }
      #expect(frames.count >= 60)
      let pushed = service.scratch.path("data/live/\(name.1)-server/index.m3u8")
      #expect(try await RunningService.onThread { try FFmpegTool.frames(pushed) }.count >= 30)
      try await service.shutDown()
    }
  }
}
