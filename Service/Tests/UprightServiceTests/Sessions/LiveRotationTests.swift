import Foundation
import UprightOrientation
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// What a viewer sees when a phone is turned while it publishes.
extension LivePublishing {
  @Suite("A rotation during a live stream", .serialized)
  struct LiveRotationTests {
    private static let rate = 25
    private static let portrait = PixelSize(180, 320)
    private static let landscape = PixelSize(320, 180)

    @Test(
      "No frame is lost or repeated at a rotation, and HLS plays across it over HTTP",
      .plays(.chromium))
    func turn() async throws {
      let scratch = try Scratch()
      let clip = scratch.path("clock.flv")
      try DrawnClock.clip(clip, seconds: 90)
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: RunningService.liveSession)
      let publisher = try Publisher(clip: clip, to: try await service.session("stage", at: port))
      func playlist() async throws -> Playlist? {
        let answer = try await service.ask("GET", "/live/stage/index.m3u8", token: nil)
        return answer.status == 200 ? try Playlist(text: answer.text) : nil
      }
      try #require(
        try await waitUntil { try await playlist()?.segments.count ?? 0 >= 3 },
        "\(publisher.errors) \(service.log.lines.suffix(500))")
      let base = "http://127.0.0.1:\(service.service.port ?? 0)/live/stage/"
      async let played: (status: Int, said: JSON) = RunningService.onThread {
        try Player.chromium.play([base, "index.m3u8", "--timeout", "120"])
      }
      // The player must start before the rotation.
      let seen = try await service.state("stage")["counters"]["framesIn"].int ?? 0
      #expect(try await service.waitForFrames(seen + 2 * Self.rate, of: "stage"))
      let asked = try await service.turn("stage", "landscapeLeft")
      // Waits for the discontinuity of the rotation, and a segment after it.
      #expect(
        try await waitUntil {
          let segments = try await playlist()?.segments ?? []
          return segments.dropLast().contains(where: \.isDiscontinuous)
        })
      publisher.kill()
      let ended = try await service.ask("DELETE", "/v1/sessions/stage")
      #expect(ended.json["counters"]["dropped"].object.isEmpty, "\(ended.text)")
      let (path, list) = try await service.fetch("stage", into: scratch)
      #expect(list.isEnded && list.discontinuities == 1)

      let frames = try DrawnClock.read(path)
      let numbers = frames.compactMap(\.number)
      #expect(numbers.count == frames.count, "\(frames.filter { $0.number == nil }.prefix(3))")
      // After the publisher is killed, the last frame is repeated.
      let last = try #require(numbers.last)
      let real = Array(numbers.prefix { $0 != last }) + [last]
      #expect(real == Array(real[0]...last), "\(real)")
      #expect(numbers[real.count...].allSatisfy { $0 == last })
      let turned = try #require(frames.firstIndex { $0.size == Self.landscape })
      #expect(frames[..<turned].allSatisfy { $0.size == Self.portrait } && turned > 0)
      #expect(frames[turned...].allSatisfy { $0.size == Self.landscape })
      #expect(numbers[turned] == Int((asked * Double(Self.rate)).rounded()))

      let (status, said) = try await played
      #expect(status == 0 && said["error"].string == nil, "\(said)")
      let sizes = said["sizes"].array.map { PixelSize($0["width"].int ?? 0, $0["height"].int ?? 0) }
      #expect(sizes == [Self.portrait, Self.landscape], "\(said)")
      try await service.shutDown()
    }

    @Test("The next frame applies an event, and the response has its time, for each rotation")
    func obeyed() async throws {
      let scratch = try Scratch()
      let clip = scratch.path("clock.flv")
      try DrawnClock.clip(clip, seconds: 60, audio: false)
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: RunningService.liveSession)
      let address = try await service.session(
        "stage", at: port, outputs: "{\"type\": \"file\", \"name\": \"take.ts\"}")
      let publisher = try Publisher(clip: clip, to: address)
      var expected: [Int] = []
      for index in 0..<6 {
        let seen = try await service.state("stage")["counters"]["framesIn"].int ?? 0
        try #require(
          try await service.waitForFrames(seen + 11 + index, of: "stage"), "\(publisher.errors)")
        let asked = try await service.turn("stage", ["landscapeLeft", "portrait"][index % 2])
        let number = Int((asked * Double(Self.rate)).rounded())
        // The rotation is at the next decoded frame at the latest: frames waiting in the queue are rotated too.
        let decoded = try await service.state("stage")["counters"]["framesIn"].int ?? 0
        #expect(number <= decoded)
        expected.append(number)
      }
      #expect(try await service.waitForFrames((expected.last ?? 0) + 10, of: "stage"))
      publisher.kill()
      let ended = try await service.ask("DELETE", "/v1/sessions/stage")
      #expect(ended.json["counters"]["formatChanges"].int == 6, "\(ended.text)")
      let frames = try DrawnClock.read(service.scratch.path("data/recordings/stage/take.ts"))
      var turns: [Int?] = []
      for (former, next) in zip(frames, frames.dropFirst()) where former.size != next.size {
        turns.append(next.number)
      }
      #expect(turns == expected)
      try await service.shutDown()
    }
  }
}
