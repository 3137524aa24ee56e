import Testing

@testable import UprightLive

/// Frames dropped by a session that is too slow, and by one whose publisher pauses.
@Suite struct LiveBacklogTests {
  private static let step = LiveClock.rate / 30

  /// Simulates `count` frames published at 30 per second. A frame that is shown takes `cost` ticks, a frame
  /// that is dropped takes almost none. From frame `pauseAt` on, frames arrive `pause` ticks later. Returns
  /// the shown frames, and the delay behind the last of them in ticks.
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

  @Test("A session that keeps up shows every frame")
  func punctual() {
    #expect(Self.run(count: 300, cost: Self.step * 9 / 10).shown == Array(0..<300))
  }

  @Test(
    "A slow session limits its delay and never drops more than half a second in a row",
    arguments: [2, 5, 12])
  func slow(_ times: Int64) {
    let (shown, lag) = Self.run(count: 3000, cost: Self.step * times)
    #expect(lag < 3 * LiveClock.rate, "\(Double(lag) / Double(LiveClock.rate)) s")
    #expect(shown.count >= 3000 / 16)
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $1 - $0 <= 16 })
    #expect((shown.last ?? 0) > 2980)
  }

  @Test("After a publisher's pause at normal speed, no frame is dropped")
  func pause() {
    let (shown, _) = Self.run(
      count: 300, cost: Self.step / 2, pause: 5 * LiveClock.rate, pauseAt: 100)
    #expect(shown == Array(0..<300))
  }
}
