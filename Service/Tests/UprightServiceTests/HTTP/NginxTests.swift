import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

private enum Nginx {
  /// Whether nginx and its RTMP module are at Debian's paths.
  static let isHere =
    FileManager.default.isExecutableFile(atPath: "/usr/sbin/nginx")
    && FileManager.default.fileExists(atPath: "/usr/lib/nginx/modules/ngx_rtmp_module.so")

  /// A run of the unmodified `Samples/live/run.sh`, with small frames in the configuration.
  final class Sample: Sendable {
    static let key = "sesame-of-the-stage"
    let scratch: Scratch
    let program: RunningProgram
    let (rtmp, http): (Int, Int)

    init() throws {
      scratch = try Scratch()
      (rtmp, http) = (try Loopback.freeTCPPort(), try Loopback.freeTCPPort())
      let folder = Fixtures.packageRoot.appendingPathComponent("Samples/live")
      let plain = try String(
        contentsOf: folder.appendingPathComponent("upright.json"), encoding: .utf8)
      let options =
        "\"options\": {\"frames\": \"sensor\", \"size\": \"90x160\", \"speed\": \"ultrafast\", \"segment\": 1},"
      let edited = plain.replacing("\"policy\":", with: options + " \"policy\":")
      try Data(edited.utf8).write(to: URL(fileURLWithPath: scratch.path("upright.json")))
      program = try RunningProgram(
        ExternalTool("bash"), [folder.appendingPathComponent("run.sh").path],
        environment: [
          "UPRIGHT": CommandLineProgram.path, "UPRIGHT_TOKEN": RunningService.token,
          "RTMP_PORT": "\(rtmp)", "HTTP_PORT": "\(http)",
          "UPRIGHT_PORT": "\(try Loopback.freeTCPPort())",
          "CHECK_PORT": "\(try Loopback.freeTCPPort())", "LIVE_KEY": Self.key,
          "CONFIG": scratch.path("upright.json"), "DATA": scratch.path("data"),
        ])
    }

    /// Publishes to `live/ADDRESS` of nginx in real time until the returned program is released.
    func publish(_ address: String, seconds: Double) throws -> RunningProgram {
      try sending(
        seconds: seconds, ["-f", "flv", "rtmp://127.0.0.1:\(rtmp)/live/\(address)"], audio: true)
    }

    func ask(_ method: String, _ path: String, _ body: String? = nil) async throws -> Answer {
      var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      head += "Authorization: Bearer \(RunningService.token)\r\n"
      if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
      let (text, http) = (head + "\r\n" + (body ?? ""), http)
      return try await RunningService.onThread {
        let connection = try LocalConnection(port: http)
        connection.send(text)
        return try Answer(connection.receive(seconds: 30).bytes)
      }
    }

    func session(_ name: String) async throws -> JSON {
      try await ask("GET", "/v1/sessions/\(name)").json
    }
  }
}

extension LiveServiceMedia {
  @Suite("nginx in front", .enabled(if: Nginx.isHere, "needs nginx with its RTMP module"))
  struct NginxTests {
    @Test("A stream published to nginx is a session, which its publisher can continue")
    func published() async throws {
      let sample = try Nginx.Sample()
      let front = sample.program
      try #require(
        try await waitUntil { front.said.contains("live: publish to") || front.exitCode != nil },
        "\(front.said)")
      try #require(front.exitCode == nil, "\(front.said)")
      let publisher = try sample.publish("cam?key=\(Nginx.Sample.key)", seconds: 10)
      #expect(
        try await waitUntil { try await sample.session("cam")["seconds"].double ?? 0 > 1.5 },
        "\(front.said)")
      let turned = try await sample.ask(
        "POST", "/v1/sessions/cam/events", "{\"device\": \"landscapeLeft\"}")
      #expect(turned.status == 200, "\(turned.text)")
      // A player at nginx gets the stream that upright pushes back.
      let copy = sample.scratch.path("player.ts")
      let player = try RunningProgram(
        ExternalTool("ffmpeg"),
        [
          "-nostdin", "-v", "error", "-i", "rtmp://127.0.0.1:\(sample.rtmp)/upright/cam", "-t", "2",
          "-c", "copy", copy,
        ])
      // A publisher with a wrong key and a second publisher are rejected, and don't end the running session.
      let strangers = try ["sesame", Nginx.Sample.key].map {
        try sample.publish("cam?key=\($0)", seconds: 5)
      }
      for stranger in strangers {
        #expect(try await RunningService.onThread { stranger.wait(seconds: 60) } != 0)
      }
      #expect(try await sample.session("cam")["state"].string == "live", "\(front.said)")
      #expect(try await RunningService.onThread { publisher.wait(seconds: 60) } == 0)
      #expect(
        try await waitUntil { try await sample.session("cam")["state"].string == "inputLost" },
        "\(front.said)")
      _ = try await RunningService.onThread { player.wait(seconds: 20) }
      let played = try await RunningService.onThread { try DecodedFrames(copy, sample.scratch) }
      #expect(played.corners.contains("tl") && !played.corners.contains("?"), "\(played.corners)")

      // The publisher that returns continues the session.
      let before = try await sample.session("cam")["counters"]["framesIn"].int ?? 0
      let again = try sample.publish("cam?key=\(Nginx.Sample.key)", seconds: 20)
      #expect(
        try await waitUntil { try await sample.session("cam")["state"].string == "live" },
        "\(front.said)")
      #expect(
        try await waitUntil {
          try await sample.session("cam")["counters"]["framesIn"].int ?? 0 > before + 10
        })
      #expect(try await sample.session("cam")["counters"]["inputLosses"].int == 1)
      let ended = try await sample.ask("DELETE", "/v1/sessions/cam")
      #expect(ended.json["state"].string == "ended", "\(ended.text)")
      let shown = try await RunningService.onThread {
        try DecodedFrames("http://127.0.0.1:\(sample.http)/live/cam/index.m3u8", sample.scratch)
      }
      #expect(shown.times.count >= 50, "\(shown.times.count)")
      #expect(shown.corners.allSatisfy { $0 == "tl" }, "\(shown.corners)")

      #expect(try await RunningService.onThread { front.end() } == 143)
      // All started programs have ended, and the log doesn't contain the key.
      #expect(throws: (any Error).self) { try LocalConnection(port: sample.rtmp) }
      let log = front.said.split(separator: "\n").filter { !$0.contains("live: publish to") }
      #expect(!log.contains { $0.contains(Nginx.Sample.key) }, "\(front.said)")
      again.end()
    }
  }
}
