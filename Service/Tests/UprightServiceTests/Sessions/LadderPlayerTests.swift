import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

extension LivePublishing {
  /// A player that chooses the rung of a live ladder.
  @Suite("A ladder in a player", .serialized)
  struct LadderPlayerTests {
    enum Engine: String { case hlsJS, chromium }

    private static let make = RunningService.live {
      $0.options.speed = "ultrafast"
      $0.options.frames = .sensor(.init())
      $0.options.ladder = ladder
    }
    private static let ladder = [
      Rung(size: .init(640, 360), rate: .bitrate(1_000_000)),
      Rung(size: .init(320, 180), rate: .bitrate(400_000)),
    ]

    /// Publishes numbered frames with noise, so that the rungs have their bit rates.
    private static func publisher(_ seconds: Int, to address: String) throws -> Publisher {
      let source = DrawnClock.source(PixelSize(640, 360), rate: 25)
      return try Publisher(
        ["-f", "lavfi", "-i", source + ",noise=alls=40:allf=t"]
          + ["-f", "lavfi", "-i", "sine=f=440:r=48000", "-c:a", "aac"]
          + "-t \(seconds) -c:v libx264 -preset ultrafast -tune zerolatency -g 50 -bf 0 -b:v 4M"
          .words, to: address)
    }

    /// When the phone turns, and when the bandwidth is 900 kbit/s, in seconds since the player started.
    private struct Course {
      let turns: [Double]
      let low: Double
      /// When the bandwidth is high again; `nil` for never.
      let high: Double?
      let end: Double

      var throttle: String { "\(low):900" + (high.map { ",\($0):0" } ?? "") }
    }

    /// A player is six to eight seconds behind: so much later it shows what changes.
    private static let course =
      Loop.current == .slow
      ? Course(turns: [4, 14, 20, 30, 38, 46], low: 8, high: 24, end: 60)
      : Course(turns: [3, 9], low: 2, high: nil, end: 28)

    /// Costs 38 seconds in `make test`, with hls.js alone. In `make check-slow`, where the bandwidth is high again at the
    /// end, it costs 70 seconds for each player.
    @Test(
      "A player takes a lower rung while the bandwidth is low, over turns",
      .browser, .plays(.chromiumLatency),
      .enabled(if: Player.wheelOfHLSJS != nil, "needs hls.js: pip can't download gradio"),
      arguments: Loop.cases([Engine.hlsJS, .chromium], test: 1))
    func throttled(_ engine: Engine) async throws {
      let course = Self.course
      let wheel = try #require(Player.wheelOfHLSJS)
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: Self.make)
      let address = try await service.session("stage", at: port)
      let publisher = try Self.publisher(Int(course.end) + 60, to: address)
      // A player that starts with one segment has only that in its buffer.
      try #require(
        try await waitUntil {
          let list = try await service.ask("GET", "/live/stage/360p.m3u8", token: nil)
          return list.text.components(separatedBy: "#EXTINF").count > 4
        }, "\(publisher.errors) \(service.log.lines.suffix(500))")
      let url = "http://127.0.0.1:\(service.service.port ?? 0)/live/stage/index.m3u8"
      let options =
        ["--throttle", course.throttle]
        + (engine == .hlsJS ? ["--hls-js", wheel, "--high-latency", "--half-life", "3"] : [])
      async let played = RunningService.onThread {
        try Player.chromiumLatency.play([url, "\(course.end)"] + options, timeout: 600)
      }
      var now = 0.0
      for (number, turn) in course.turns.enumerated() {
        try await Task.sleep(for: .seconds(turn - now))
        now = turn
        _ = try await service.turn("stage", number % 2 == 0 ? "landscapeLeft" : "portrait")
      }
      let (status, said) = try await played
      try #require(status == 0, "\(said)")
      #expect(said["restarts"].int == 0, "\(said["events"])")
      // A frame that isn't upright, or has the shape of another one, can't be read.
      #expect(said["unread"].int == 0, "\(said["unread"])")
      #expect(said["frames"].int ?? 0 > 0, "\(said["frames"])")

      let shown = said["sizes"].array.map {
        (size: PixelSize($0[0].int ?? 0, $0[1].int ?? 0), at: $0[2].double ?? 0)
      }
      let sides = shown.map { min($0.size.width, $0.size.height) }
      #expect(
        shown.allSatisfy {
          max($0.size.width, $0.size.height) * 9 == 16 * min($0.size.width, $0.size.height)
        },
        "\(shown)")
      // Chromium starts with the lowest rung.
      var rungs: [Int] = []
      for side in sides where side != rungs.last { rungs.append(side) }
      if engine == .chromium, rungs.first == 180 { rungs.removeFirst() }
      #expect(rungs == (course.high == nil ? [360, 180] : [360, 180, 360]), "\(shown)")
      let shapes = shown.map { $0.size.height > $0.size.width }
      #expect(zip(shapes, shapes.dropFirst()).count { $0 != $1 } == course.turns.count, "\(shown)")
      print(
        "\(engine.rawValue) \(said["version"].string ?? ""): \(shown.map { "\($0.size) at \($0.at)" })"
      )
      publisher.kill()
      try await service.shutDown()
    }
  }
}
