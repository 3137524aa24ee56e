import Foundation
import UprightOrientation
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// A publisher is killed and reconnects. Players must notice no more than a still frame.
extension LivePublishing {
  @Suite("A publisher that is killed and reconnects", .serialized)
  struct ReconnectTests {
    /// The time until the publisher reconnects, and whether its stream is then smaller and portrait.
    struct Return: Sendable, CustomTestStringConvertible {
      let seconds: Double
      let isOther: Bool
      var testDescription: String { "after \(seconds) s, \(isOther ? "portrait" : "the same")" }
    }

    private static let rate = 25
    private static let returns = [
      Return(seconds: 0.1, isOther: false), Return(seconds: 1, isOther: true),
      Return(seconds: 0.1, isOther: true), Return(seconds: 1, isOther: false),
      Return(seconds: 10, isOther: false), Return(seconds: 10, isOther: true),
    ]

    @Test(
      "Times increase without a gap, and segments keep the target duration",
      arguments: Loop.cases(returns, test: 2))
    func back(_ test: Return) async throws {
      let scratch = try Scratch()
      let (first, second) = (scratch.path("first.flv"), scratch.path("second.flv"))
      try DrawnClock.clip(first, seconds: 60)
      try DrawnClock.clip(
        second, size: test.isOther ? PixelSize(160, 90) : PixelSize(320, 180), seconds: 60,
        isTurned: test.isOther)
      let port = try Loopback.freeTCPPort()
      let service = try await RunningService(
        make: RunningService.live {
          RunningService.patient(&$0)
          $0.options.frames = .metadata
        })
      let address = try await service.session(
        "stage", at: port,
        outputs: "{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"take.ts\"}")
      var publisher = try Publisher(clip: first, to: address)
      try #require(
        try await service.waitForFrames(3 * Self.rate, of: "stage"), "\(publisher.errors)")
      publisher.kill()
      try await Task.sleep(for: .seconds(test.seconds))
      let before = try await service.state("stage")["counters"]["framesIn"].int ?? 0
      publisher = try Publisher(clip: second, to: address)
      #expect(
        try await service.waitForFrames(before + 3 * Self.rate, of: "stage"),
        "\(publisher.errors) \(service.log.lines.suffix(500))")
      publisher.kill()
      let ended = try await service.ask("DELETE", "/v1/sessions/stage")
      #expect(ended.json["counters"]["inputLosses"].int ?? 0 >= 1, "\(ended.text)")
      let (path, list) = try await service.fetch("stage", into: scratch)
      #expect(list.segments.allSatisfy { Int($0.duration.rounded()) <= list.targetDuration })
      #expect(list.targetDuration == 2 && list.isEnded)
      // The recording has the whole stream, the playlist only the last segments.
      for path in [path, service.scratch.path("data/recordings/stage/take.ts")] {
        try check(DrawnClock.read(path), test)
      }
      #expect(list.discontinuities <= (test.isOther ? 1 : 0))
      try await service.shutDown()
    }

    private func check(_ frames: [DrawnClock.Reading], _ test: Return) throws {
      let numbers = frames.compactMap(\.number)
      #expect(numbers.count == frames.count, "\(frames.filter { $0.number == nil }.prefix(3))")
      let steps = zip(frames, frames.dropFirst()).map { $1.seconds - $0.seconds }
      let step = 1 / Double(Self.rate)
      #expect(steps.allSatisfy { $0 > 0 && $0 < 2 * step + 0.001 }, "\(steps.max() ?? 0)")
      // Each frame once, the last one repeatedly, then the other stream from its start.
      let again = try #require(
        numbers.indices.dropFirst().first { numbers[$0] < numbers[$0 - 1] })
      #expect(numbers[again] == 0)
      for run in [numbers[..<again], numbers[again...]] {
        for (former, next) in zip(run, run.dropFirst()) where next != former {
          #expect(next == former + 1)
        }
        let real = Set(run)
        let stood = run.count - real.count
        #expect(run.suffix(stood + 1).allSatisfy { $0 == run.last }, "an earlier frame repeats")
      }
      let (landscape, portrait) = (PixelSize(320, 180), PixelSize(180, 320))
      #expect(frames[..<again].allSatisfy { $0.size == landscape })
      #expect(frames[again...].allSatisfy { $0.size == (test.isOther ? portrait : landscape) })
    }
  }
}
