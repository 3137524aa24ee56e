/// Finds a publisher whose clock isn't real time: its frames arrive at the rate that it declares, but their times advance
/// faster or slower. A slow network doesn't look like that: frames arrive at another rate then.
///
/// Times are ticks of `LiveClock`.
struct PublisherPace {
  private struct Mark {
    let frames: Int64
    let raw: Int64
    let wall: Int64
  }

  /// Whether the clock is certainly not real time.
  private(set) var isUnreal = false
  /// A frame of each second.
  private var marks: [Mark] = []
  private var frames: Int64 = 0
  private var last: (raw: Int64, step: Int64)?

  /// How far the publisher's clock must be off; 1.7 % in a minute.
  private static let leastDrift = LiveClock.rate * 4 / 5
  /// Seconds that are looked back.
  private static let longest = 60
  /// A drift is in every frame. One step that differs this much from the one before is a jump.
  private static let jump = LiveClock.rate / 5
  private static let fewest: Int64 = 12

  /// Adds a frame, in presentation order, until the clock is found.
  ///
  /// - Parameters:
  ///   - raw: The publisher's time.
  ///   - wall: The arrival time.
  ///   - declared: The distance between two frames that the publisher declares.
  mutating func add(_ raw: Int64, wall: Int64, declared: Int64) {
    let step = last.map { raw - $0.raw } ?? 0
    if let last, abs(step - last.step) > Self.jump { marks = [] }
    last = (raw, step)
    frames += 1
    isUnreal = marks.contains { mark in
      let passed = wall - mark.wall
      let drift = abs(raw - mark.raw - passed)
      let counted = (frames - mark.frames) * declared
      return frames - mark.frames >= Self.fewest && drift >= Self.leastDrift
        && abs(counted - passed) <= drift / 4
    }
    if marks.last.map({ wall - $0.wall >= LiveClock.rate }) ?? true {
      marks.append(Mark(frames: frames, raw: raw, wall: wall))
      if marks.count > Self.longest { marks.removeFirst() }
    }
  }
}
