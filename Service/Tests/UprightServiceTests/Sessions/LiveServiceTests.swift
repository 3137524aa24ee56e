import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("A service with real sessions", .enabled(if: FFmpegTool.isHere), .server, .serialized)
struct LiveServiceTests {
  static let make = make(RunningService.workers)

  static func make(_ workers: WorkerMode) -> MakeSession {
    RunningService.live(workers) {
      $0.options.frames = .sensor(.init())
      $0.options.speed = "ultrafast"
      $0.options.size = .source
    }
  }

  @Test(
    "Published by RTMP, rotated by an event over HTTP, served as HLS, and playable at the end",
    arguments: [WorkerMode.process, .inProcess])
  func whole(_ workers: WorkerMode) async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService(make: Self.make(workers))
    let made = try await service.ask(
      "POST", "/v1/sessions",
      """
      {"name": "stage", "input": {"url": "rtmp://127.0.0.1:\(port)/live"},
       "outputs": [{"type": "hls"}, {"type": "file", "name": "take.ts"}]}
      """)
    #expect(made.status == 201, "\(made.text)")
    let key = try #require(made.json["publishKey"].string)
    async let published = RunningService.onThread {
      try ExternalTool("ffmpeg").outcome(
        [
          "-nostdin", "-v", "error", "-re", "-f", "lavfi", "-i",
          "testsrc2=size=320x180:rate=25:duration=8",
          "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-f", "flv",
          "rtmp://127.0.0.1:\(port)/live/\(key)",
        ], timeout: 120
      ).status
    }
    #expect(
      try await waitUntil {
        try await service.ask("GET", "/v1/sessions/stage").json["state"].string == "live"
      })
    let turned = try await service.ask(
      "POST", "/v1/sessions/stage/events", "{\"device\": \"landscapeLeft\"}", token: key)
    #expect(turned.status == 200, "\(turned.text)")
    #expect(try await published == 0)
    #expect(
      try await waitUntil {
        try await service.ask("GET", "/live/stage/index.m3u8", token: nil).text.contains(
          "DISCONTINUITY")
      })
    // The service has read the whole stream.
    #expect(
      try await waitUntil {
        try await service.ask("GET", "/v1/sessions/stage").json["state"].string == "inputLost"
      })
    let ended = try await service.ask("DELETE", "/v1/sessions/stage")
    #expect(ended.status == 200 && ended.json["state"].string == "ended", "\(ended.text)")
    let playlist = try await service.ask("GET", "/live/stage/index.m3u8", token: nil)
    #expect(playlist.text.contains("#EXT-X-ENDLIST"))
    for line in playlist.text.split(separator: "\n") where !line.hasPrefix("#") {
      #expect(try await service.ask("GET", "/live/stage/\(line)", token: nil).status == 200)
    }
    let take = service.scratch.path("data/recordings/stage/take.ts")
    #expect(try FFmpegTool.packets(take, "v:0").count >= 190)
    let counters = ended.json["counters"]
    #expect((counters["framesIn"].int ?? 0) >= 190, "\(ended.text)")
    #expect((counters["formatChanges"].int ?? 0) >= 1, "\(ended.text)")
    #expect(!service.log.lines.contains(key))
    try await service.shutDown()
  }
}
