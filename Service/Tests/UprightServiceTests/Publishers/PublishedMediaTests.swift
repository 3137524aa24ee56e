import Foundation
import UprightOrientation
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// Real publishers and sessions of templates.
@Suite(
  "Publishers without declared sessions", .enabled(if: FFmpegTool.isHere), .server, .serialized)
struct PublishedMediaTests {
  /// Costs 14 seconds.
  @Test(
    "Frames of an admitted publisher are complete; rejected ones get the reason; none leaves a session"
  )
  func published() async throws {
    let hook = try HookServer { request in
      switch request.json["name"].string {
      case "banned": return .status("403 Forbidden")
      case "slow":
        usleep(1_000_000)
        return .status("204 No Content")
      default: return .status("204 No Content")
      }
    }
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService.declaring(
      """
      {"name": "live/*", "input": {"url": "rtmp://127.0.0.1:\(port)"}, "inputTimeout": 2,
       "onPublish": {"url": "http://127.0.0.1:\(hook.port)/"}}
      """,
      change: { configuration, dependencies in
        configuration.allowHosts = ["127.0.0.1:\(hook.port)"]
        dependencies.publisherTimeouts = .init(publish: .seconds(3), silence: .seconds(3))
      }, make: RunningService.liveSession)
    let (rate, seconds) = (10, 4)
    let clip = service.scratch.path("clock.flv")
    try DrawnClock.clip(clip, size: PixelSize(160, 90), rate: rate, seconds: seconds)
    func address(_ name: String) -> String {
      "rtmp://127.0.0.1:\(port)/live/\(name)?key=k-of-\(name)"
    }
    let publishers = try ["cam", "slow"].map { try Publisher(clip: clip, to: address($0)) }
    let banned = try Publisher(clip: clip, to: address("banned"))
    #expect(try await RunningService.onThread { banned.status() } != 0)
    #expect(
      banned.errors.contains("the publish hook refused: it answered 403"), "\(banned.errors)")
    for publisher in publishers {
      #expect(
        try await RunningService.onThread { publisher.status() } == 0, "\(publisher.errors)")
    }
    // Each ends by itself after the loss of its publisher.
    for name in ["cam", "slow"] {
      #expect(try await waitUntil { try await service.state(name)["state"].string == "ended" })
      let state = try await service.state(name)
      #expect(state["counters"]["framesIn"].int == rate * seconds, "\(state)")
      let folder = try Scratch()
      let (path, list) = try await service.fetch(name, into: folder)
      #expect(list.isEnded)
      let numbers = try DrawnClock.read(path).map(\.number)
      let expected = (0..<rate * seconds).map { Optional($0) }
      #expect(Array(numbers.prefix(expected.count)) == expected, "\(name): \(numbers)")
    }

    // A publisher that sends no video fails its session, whose name is free then.
    let audio = try Publisher(
      ["-f", "lavfi", "-i", "sine=frequency=440", "-t", "60", "-c:a", "aac"], to: address("mute"))
    #expect(try await RunningService.onThread { audio.status() } != 0)
    #expect(try await waitUntil { try await service.state("mute")["state"].string == "failed" })
    #expect(try await service.state("mute")["reason"].string?.contains("no video") == true)
    let late = try Publisher(clip: clip, to: address("mute"))
    #expect(try await waitUntil { try await service.state("mute")["state"].string == "live" })
    late.kill()
    #expect(try await waitUntil { try await service.state("mute")["state"].string == "ended" })
    #expect(try await service.names == ["cam", "mute", "slow"])
    #expect(hook.requests.count == 5 && !service.log.lines.contains("k-of-"))
    try await service.shutDown()
  }
}
