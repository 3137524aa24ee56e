import Testing

@testable import UprightLive

/// Frames dropped by a session that is too slow, by one whose publisher pauses, and by one that gets a burst.
@Suite struct LiveBacklogTests {
  private static let step = LiveClock.rate / 30

  private struct Shown {
    var frames: [Int] = []
    /// The delay behind the last frame, in ticks.
    var lag: Int64 = 0
    var skips = 0
  }

  /// Simulates `count` frames published at 30 per second, each thirtieth a keyframe. A frame that is shown takes `cost`
  /// ticks, a frame that is dropped takes almost none.
  ///
  /// - Parameters:
  ///   - pause: How much later the frames from `pauseAt` on arrive.
  ///   - burst: The number of frames that arrive at once at the start.
  ///   - bursts: The number of frames that arrive at once from then on, the last one of them in time.
  private static func run(
    count: Int, cost: Int64, pause: Int64 = 0, pauseAt: Int = .max, burst: Int = 0, bursts: Int = 1
  ) -> Shown {
    var backlog = LiveBacklog()
    var (wall, index) = (Int64(0), 0)
    var result = Shown()
    func arrival(_ frame: Int) -> Int64 {
      let last = frame / bursts * bursts + bursts - 1
      return max(0, Int64(last - burst) * step) + (frame >= pauseAt ? pause : 0)
    }
    while index < count {
      wall = max(wall, arrival(index))
      var newest = index
      while newest + 1 < count, arrival(newest + 1) <= wall { newest += 1 }
      let behind = Int64(newest - index) * step
      switch backlog.answer(behind: behind, wall: wall) {
      case .show:
        result.frames.append(index)
        wall += cost
        result.lag = wall - Int64(index) * step
        index += 1
      case .drop:
        wall += 90
        index += 1
      case .skip:
        result.skips += 1
        index = max(index + 1, newest / 30 * 30)
      }
    }
    return result
  }

  @Test("A session that keeps up shows every frame")
  func punctual() {
    #expect(Self.run(count: 300, cost: Self.step * 9 / 10).frames == Array(0..<300))
  }

  @Test("A slow session limits its delay, and drops frames evenly", arguments: [2, 3, 5])
  func slow(_ times: Int64) {
    let result = Self.run(count: 3000, cost: Self.step * times)
    #expect(result.lag < 2 * LiveClock.rate, "\(Double(result.lag) / Double(LiveClock.rate)) s")
    #expect(result.frames.count >= 3000 / Int(times) * 7 / 10, "\(result.frames.count)")
    #expect((result.frames.last ?? 0) > 2960)
    // After the beginning, the steps between shown frames are about alike.
    let steps = zip(result.frames, result.frames.dropFirst()).filter { $0.0 > 600 }.map { $1 - $0 }
    let uneven = steps.count { $0 > Int(times) * 3 }
    #expect(uneven <= steps.count / 50, "\(uneven) of \(steps.count), \(result.skips) skips")
  }

  @Test("A session that is far too slow goes on at the newest keyframe")
  func starved() {
    let result = Self.run(count: 3000, cost: Self.step * 40)
    #expect(result.skips > 0)
    #expect(result.lag < 5 * LiveClock.rate, "\(Double(result.lag) / Double(LiveClock.rate)) s")
  }

  @Test("After a publisher's pause at normal speed, no frame is dropped")
  func pause() {
    let result = Self.run(
      count: 300, cost: Self.step / 2, pause: 5 * LiveClock.rate, pauseAt: 100)
    #expect(result.frames == Array(0..<300))
  }

  @Test("Of a burst, with which a connection begins, no frame is dropped")
  func burst() {
    #expect(Self.run(count: 300, cost: Self.step / 4, burst: 120).frames == Array(0..<300))
  }

  @Test(
    "A session that keeps up drops nothing of bursts, however long they are",
    arguments: [6, 12, 24, 30, 45, 90], [20, 2, 1])
  func bursts(size: Int, speed: Int64) {
    let cost = Self.step * 9 / 10 / speed
    #expect(Self.run(count: 900, cost: cost, bursts: size).frames == Array(0..<900))
  }

  @Test(
    "A slow session that gets bursts limits its delay", arguments: [6, 12, 24, 45, 90], [2, 3, 5])
  func slowBursts(size: Int, times: Int64) {
    let result = Self.run(count: 3000, cost: Self.step * times, bursts: size)
    #expect(result.lag < LiveClock.rate + 2 * Int64(size) * Self.step)
    #expect(result.frames.count >= 3000 / Int(times) * 7 / 10, "\(result.frames.count)")
  }

  @Test("A session far behind that gets no frame decoded for a second is overloaded")
  func stalled() {
    var backlog = LiveBacklog()
    let second = LiveClock.rate
    func isOverloaded(_ behind: Int64, at wall: Int64) -> Bool {
      backlog.isOverloaded(behind: behind, wall: wall)
    }
    #expect(!isOverloaded(5 * second, at: 9 * second), "before the first frame")
    _ = backlog.answer(behind: 0, wall: 9 * second)
    #expect(!isOverloaded(0, at: 9 * second))
    #expect(!isOverloaded(5 * second, at: 12 * second), "a burst after a gap")
    #expect(!isOverloaded(5 * second, at: 13 * second))
    #expect(isOverloaded(5 * second, at: 13 * second + 1))
    #expect(!isOverloaded(second, at: 14 * second))
    #expect(!isOverloaded(3 * second, at: 15 * second))
    #expect(isOverloaded(3 * second, at: 17 * second))
    _ = backlog.answer(behind: 3 * second, wall: 17 * second)
    #expect(!isOverloaded(3 * second, at: 17 * second))
  }
}
