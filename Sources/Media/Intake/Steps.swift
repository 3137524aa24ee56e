internal import UprightOrientation
internal import UprightMediaIO

/// A value that changes over time, queried frame by frame.
struct Steps<Value: Sendable>: Sendable {
  private var steps: [(at: Int64, value: Value)] = []
  private var last: Int64?

  /// Sets the value from the frame at `at` on, in ticks of the video's time base. Discards values set earlier
  /// for that time or later.
  mutating func set(_ value: Value, from at: Int64) {
    while let end = steps.last, end.at >= at { steps.removeLast() }
    steps.append((at, value))
  }

  /// Returns the value at `pts`. If `pts` is `nil`, returns the value for the last time queried.
  mutating func value(at pts: Int64?) -> Value? {
    last = pts ?? last
    guard let last else { return steps.first?.value }
    let place = steps.place { $0.at <= last }
    guard place > 0 else { return nil }
    // Frames are queried in order. Discard old values, because a live stream has no end.
    if place > 1 { steps.removeFirst(place - 1) }
    return steps[0].value
  }
}

extension Int64 {
  /// Returns the first tick of `to` at or after this tick of `from`. If the time bases differ, allows 1 ms
  /// less, the resolution of containers that count milliseconds. Clamps the result to 64 bits.
  func firstTick(of to: Rational, from: Rational) -> Int64 {
    guard to != from else { return self }
    return (MediaTime(self, from) - .millisecond).roundedUp(to: to).ticks
  }
}
