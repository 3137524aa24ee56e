import Foundation
import UprightOrientation
import Upright
import Testing
import UprightServiceTestSupport

@testable import UprightService

extension LivePublishing {
  /// Changes over HTTP while ffmpeg publishes. Each test costs about ten seconds, most of it idle.
  @Suite("Changes while a publisher sends")
  struct LiveChangeServiceTests {
    /// Reads the options that these tests change.
    private static let make = RunningService.live {
      $0.limits.lag = 600
      $0.options.frames = .sensor(.init())
      $0.options.speed = "ultrafast"
      $0.options.size = .pair(PixelSize(160, 160))
      $0.options.segmentDuration = 1
    }

    @Test("Two sessions: one is changed at named frames, the other doesn't notice")
    func frames() async throws {
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: Self.make)
      let take = "{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"take.ts\"}"
      let addresses = [
        try await service.session("one", at: port, outputs: take),
        try await service.session("two", at: port, outputs: take),
      ]
      let publishers = try addresses.map {
        try Publisher(
          ["-f", "lavfi", "-i", DecodedFrames.source]
            + "-t 6 -c:v libx264 -preset ultrafast -tune zerolatency -g 15".words, to: $0)
      }
      for name in ["one", "two"] {
        #expect(try await service.waitForFrames(15, of: name))
      }
      var times: [Double] = []
      // The frame stands in portrait, with black beside it; then white; then nothing beside it.
      for body in [
        "{\"options\": {\"background\": \"FFFFFF\"}}",
        "{\"policy\": \"landscape\", \"options\": {\"background\": null, \"fit\": \"fill\"}}",
        "{\"options\": {\"bitrate\": 200000}}",
      ] {
        let changed = try await service.ask("PATCH", "/v1/sessions/one", body)
        #expect(changed.status == 200, "\(changed.text)")
        times.append(try #require(changed.json["at"].double))
        let turns = changed.json["decisions"].array.map { $0["decision"].string }
        #expect(turns == (body.contains("policy") ? ["rotate"] : []))
        let count = try await service.state("one")["counters"]["framesOut"].int ?? 0
        #expect(try await service.waitForFrames(count + 20, of: "one"))
        // A wrong change in between doesn't count.
        let wrong = try await service.ask(
          "PATCH", "/v1/sessions/one", "{\"options\": {\"size\": \"90x160\"}}")
        #expect(wrong.status == 409)
      }
      for publisher in publishers { #expect(publisher.status() == 0, "\(publisher.errors)") }
      for name in ["one", "two"] {
        let ended = try await service.ask("DELETE", "/v1/sessions/\(name)")
        let counters = ended.json["counters"]
        #expect(ended.json["state"].string == "ended", "\(ended.text)")
        #expect((counters["framesOut"].int ?? 0) >= (counters["framesIn"].int ?? .max))
        #expect(counters["dropped"].object.isEmpty, "\(ended.text)")
        let path = service.scratch.path("data/recordings/\(name)/take.ts")
        let shown = try DecodedFrames(path, service.scratch)
        // It ends with the last frame of its publisher.
        #expect(shown.times.count == counters["framesIn"].int)
        #expect(shown.shortestStep > 0 && shown.longestStep < 0.067, "\(shown.longestStep)")
        for (time, corner) in zip(shown.times, shown.corners) {
          // The middle of the white half is at the left and right edges of a portrait frame's upper half.
          let change = name == "one" ? times.count { time >= $0 - 0.002 } : 0
          let wanted = [["?"], ["all"], ["tl"], ["tl"]][change]
          #expect(wanted.contains(corner), "\(name) at \(time): \(corner), \(times)")
        }
      }
      try await service.shutDown()
    }

    @Test("A recording is added, stopped and started again while the stream is served")
    func recording() async throws {
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: Self.make)
      let publisher = try Publisher(
        ["-f", "lavfi", "-i", DecodedFrames.source]
          + "-t 8 -c:v libx264 -preset ultrafast -tune zerolatency -g 15".words,
        to: try await service.session("one", at: port))
      #expect(try await service.waitForFrames(15, of: "one"))
      let outputs = "/v1/sessions/one/outputs"
      func frames() async throws -> Int {
        try await service.ask("GET", outputs + "/take").json["frames"].int ?? 0
      }
      let made = try await service.ask(
        "POST", outputs, "{\"id\": \"take\", \"type\": \"file\", \"name\": \"take.mp4\"}")
      #expect(made.status == 201, "\(made.text)")
      #expect(try await waitUntil { try await frames() >= 20 })
      let stopped = try await service.ask("POST", outputs + "/take/stop")
      #expect(stopped.json["state"].string == "stopped", "\(stopped.text)")
      let again = try await service.ask("POST", outputs + "/take/start")
      #expect(again.json["state"].string == "starting", "\(again.text)")
      #expect(try await waitUntil { try await frames() >= 20 })
      let current = try await service.ask("GET", outputs + "/take").json
      #expect(current["name"].string == "take-2.mp4")
      #expect(current["recording"].string == "one~take-2.mp4")
      let removed = try await service.ask("DELETE", outputs + "/take")
      #expect(removed.status == 200)
      #expect(try await service.ask("GET", outputs + "/take").status == 404)
      #expect(publisher.status() == 0)
      let ended = try await service.ask("DELETE", "/v1/sessions/one")
      let counters = ended.json["counters"]
      #expect((counters["framesOut"].int ?? 0) >= (counters["framesIn"].int ?? .max))
      for (name, answer) in [("take.mp4", stopped), ("take-2.mp4", removed)] {
        let path = service.scratch.path("data/recordings/one/\(name)")
        let shown = try DecodedFrames(path, service.scratch)
        #expect(shown.times.count == answer.json["frames"].int && shown.times.count >= 20)
        #expect(shown.shortestStep > 0 && shown.longestStep < 0.067)
      }
      try await service.shutDown()
    }
  }
}
