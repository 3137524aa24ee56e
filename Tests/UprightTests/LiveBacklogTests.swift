import Testing

@testable import UprightLive

/// What is left out by a session that does not keep up, and by one whose publisher does not.
@Suite struct LiveBacklogTests {
  private static let step = LiveClock.rate / 30

  /// Pictures published 30 a second, `count` of them from `start` seconds on, each of which takes `cost`
  /// ticks where it is shown and next to nothing where it is not. What was shown, and how far behind the
  /// last one was.
  private static func run(
    count: Int, cost: Int64, pause: Int64 = 0, pauseAt: Int = .max
  ) -> (shown: [Int], lag: Int64) {
    var backlog = LiveBacklog()
    var (wall, last) = (Int64(0), Int64(-LiveClock.rate))
    var shown: [Int] = []
    for index in 0..<count {
      let time = Int64(index) * step
      let arrival = time + (index >= pauseAt ? pause : 0)
      let waited = max(0, arrival - wall)
      wall = max(wall, arrival)
      let isSkipped = backlog.drops(time, wall: wall, waited: waited, step: step, shown: last)
      if isSkipped {
        wall += 90
        continue
      }
      shown.append(index)
      last = time
      wall += cost
    }
    return (shown, wall - last)
  }

  @Test("who keeps up shows everything")
  func punctual() {
    #expect(Self.run(count: 300, cost: Self.step * 9 / 10).shown == Array(0..<300))
  }

  @Test(
    "who does not stays a second behind at most, and never leaves a hole of more than half a second",
    arguments: [2, 5, 12])
  func slow(_ times: Int64) {
    let (shown, lag) = Self.run(count: 3000, cost: Self.step * times)
    #expect(lag < 3 * LiveClock.rate, "\(Double(lag) / Double(LiveClock.rate)) s")
    #expect(shown.count >= 3000 / 16)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 <= 16 })
    #expect((shown.last ?? 0) > 2980)
  }

  @Test("a publisher that pauses and goes on at his own speed loses nothing")
  func pause() {
    let (shown, _) = Self.run(
      count: 300, cost: Self.step / 2, pause: 5 * LiveClock.rate, pauseAt: 100)
    #expect(shown == Array(0..<300))
  }
}
