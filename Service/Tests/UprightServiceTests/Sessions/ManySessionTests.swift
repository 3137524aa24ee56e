import Foundation
import UprightOrientation
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// Concurrent sessions, one of them with an output that is stuck.
extension LivePublishing {
  @Suite("Eight sessions on one port", .serialized)
  struct ManySessionTests {
    @Test("No frame is dropped, and an output that is never read doesn't affect the others")
    func eight() async throws {
      let (rate, seconds) = (10, 6)
      let scratch = try Scratch()
      let clip = scratch.path("clock.flv")
      try DrawnClock.clip(clip, size: PixelSize(160, 90), rate: rate, seconds: seconds)
      // The kernel accepts the connection, but nothing reads from it.
      let deaf = try Loopback.Listener()
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(make: RunningService.liveSession)
      let names = (0..<8).map { "s\($0)" }
      var publishers: [Publisher] = []
      for name in names {
        let stuck =
          name == "s0"
          ? ", {\"type\": \"rtmp\", \"url\": \"rtmp://127.0.0.1:\(deaf.port)/live/x\"}" : ""
        let address = try await service.session(
          name, at: port, outputs: "{\"type\": \"hls\"}" + stuck)
        publishers.append(try Publisher(clip: clip, to: address))
      }
      for publisher in publishers {
        #expect(
          try await RunningService.onThread { publisher.status() } == 0, "\(publisher.errors)")
      }
      for name in names {
        #expect(try await service.waitForFrames(rate * seconds, of: name))
      }
      // Concurrently, because the stuck output takes until its timeout to close.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in names {
          group.addTask {
            let ended = try await service.ask("DELETE", "/v1/sessions/\(name)").json
            let counters = ended["counters"]
            #expect(ended["state"].string == "ended", "\(name): \(ended)")
            #expect(counters["framesIn"].int == rate * seconds, "\(name): \(counters)")
            #expect(counters["framesOut"].int ?? 0 >= rate * seconds, "\(name): \(counters)")
            // Only the stuck output may drop frames.
            #expect(
              counters["dropped"].object.keys.allSatisfy { $0 == "output" && name == "s0" },
              "\(name): \(counters)")
          }
        }
        try await group.waitForAll()
      }
      for name in names {
        let folder = try Scratch()
        let (path, list) = try await service.fetch(name, into: folder)
        #expect(list.isEnded, "\(name)")
        let numbers = try DrawnClock.read(path).map(\.number)
        let expected = (0..<rate * seconds).map { Optional($0) }
        #expect(Array(numbers.prefix(expected.count)) == expected, "\(name): \(numbers)")
        #expect(
          numbers[expected.count...].allSatisfy { $0 == expected.last }, "\(name): \(numbers)")
      }
      try await service.shutDown()
    }
  }
}
