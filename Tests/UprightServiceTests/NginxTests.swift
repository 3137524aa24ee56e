import Foundation
import Orientation
import Testing
import UprightFiles
import UprightTestSupport

@testable import UprightService

private enum Nginx {
  /// Whether nginx and its RTMP module are at Debian's paths.
  static let isHere =
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
    && FileManager.default.fileExists(atPath: "/usr/lib/nginx/modules/ngx_rtmp_module.so")
}

extension LiveServiceMedia {
  /// The unmodified `Samples/live/run.sh` with a service of the test.
  @Suite(
    "nginx in front",
    .enabled(
      if: ExternalTool("python3").isHere && Nginx.isHere,
      "needs python3 and nginx with its RTMP module"))
  struct NginxTests {
    private static func front(_ service: RunningService, rtmp: Int) throws -> RunningProgram {
      let script = Fixtures.packageRoot.appendingPathComponent("Samples/live/run.sh").path
      return try RunningProgram(
        ExternalTool("bash"), [script],
        environment: [
          "UPRIGHT_URL": "http://127.0.0.1:\(service.service.port ?? 0)",
          "UPRIGHT_TOKEN": RunningService.token, "RTMP_PORT": "\(rtmp)",
          "HOOK_PORT": "\(try Loopback.freeTCPPort())", "LIVE_KEY": "sesame-of-the-stage",
          "SESSION": "{\"inputTimeout\": 20}",
        ])
    }

    @Test("A stream published to nginx is a session until its publisher disconnects")
    func published() async throws {
      let service = try await RunningService(engine: LiveServiceFixture.engine(.sensor(.init())))
      let rtmp = try Loopback.freeTCPPort()
      let front = try Self.front(service, rtmp: rtmp)
      try #require(
        try await waitUntil { front.said.contains("live: publish to") || front.exitCode != nil },
        "\(front.said)")
      try #require(front.exitCode == nil, "\(front.said)")
      func publish(_ address: String, seconds: Double) throws -> RunningProgram {
        try sending(
          seconds: seconds, ["-f", "flv", "rtmp://127.0.0.1:\(rtmp)/\(address)"], sound: true)
      }
      let publisher = try publish("live/cam?key=sesame-of-the-stage", seconds: 10)
      func session() async throws -> JSON { try await service.ask("GET", "/v1/sessions/cam").json }
      #expect(
        try await waitUntil { try await session()["seconds"].double ?? 0 > 1.5 }, "\(front.said)")
      let turned = try await service.ask(
        "POST", "/v1/sessions/cam/events", "{\"device\": \"landscapeLeft\"}")
      #expect(turned.status == 200, "\(turned.text)")
      // A player at nginx gets the stream that Upright pushes back.
      let scratch = service.scratch
      let player = try RunningProgram(
        ExternalTool("ffmpeg"),
        [
          "-nostdin", "-v", "error", "-i", "rtmp://127.0.0.1:\(rtmp)/upright/cam", "-t", "2", "-c",
          "copy", scratch.path("player.ts"),
        ])
      // A publisher with a wrong key and a second publisher are rejected, and don't end the running session.
      let strangers = try ["key=sesame", "key=sesame-of-the-stage"].map {
        try publish("live/cam?\($0)", seconds: 5)
      }
      for stranger in strangers {
        #expect(try await RunningService.onThread { stranger.wait(seconds: 60) } != 0)
      }
      #expect(try await session()["state"].string == "live", "\(front.said)")
      #expect(try await RunningService.onThread { publisher.wait(seconds: 60) } == 0)
      #expect(
        try await waitUntil { try await session()["state"].string == "ended" }, "\(front.said)")

      let shown = try await service.pictures("cam")
      let first = try #require(shown.corners.firstIndex(of: "tl"), "\(shown.corners)")
      #expect(first > 0 && shown.times.count >= 100, "\(first) \(shown.times.count)")
      #expect(shown.corners[..<first].allSatisfy { $0 == "tr" }, "\(shown.corners)")
      #expect(shown.corners[first...].allSatisfy { $0 == "tl" }, "\(shown.corners)")
      _ = try await RunningService.onThread { player.wait(seconds: 20) }
      let played = try await RunningService.onThread {
        try DecodedFrames(scratch.path("player.ts"), scratch)
      }
      #expect(played.corners.contains("tl") && !played.corners.contains("?"), "\(played.corners)")

      // The name can be used again.
      let again = try publish("live/cam?key=sesame-of-the-stage", seconds: 10)
      #expect(
        try await waitUntil { try await session()["state"].string == "live" }, "\(front.said)")
      #expect(try await RunningService.onThread { front.end() } == 143)
      // All started programs have ended, and the log doesn't contain the key.
      #expect(throws: (any Error).self) { try LocalConnection(port: rtmp) }
      #expect(!service.log.lines.contains("sesame-of-the-stage"))
      again.end()
      try await service.shutDown()
    }
  }
}
