internal import Orientation
internal import UprightMediaIO

/// A value that changes at times, asked for picture by picture.
struct Steps<Value: Sendable>: Sendable {
  private var steps: [(at: Int64, value: Value)] = []
  private var last: Int64?

  /// From the picture at `at` (ticks of the pictures' time base) on it is `value`; what was set for
  /// that time or later before this call is forgotten.
  mutating func set(_ value: Value, from at: Int64) {
    while let end = steps.last, end.at >= at { steps.removeLast() }
    steps.append((at, value))
  }

  /// What stands for the picture at `pts`; for nil, what stood for the last one asked for.
  mutating func value(at pts: Int64?) -> Value? {
    last = pts ?? last
    guard let last else { return steps.first?.value }
    var (low, high) = (0, steps.count)
    while low < high {
      let middle = (low + high) / 2
      if steps[middle].at <= last { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    // Pictures are asked for in order: what was before is over, and a live stream has no end.
    if low > 1 { steps.removeFirst(low - 1) }
    return steps[0].value
  }
}

extension Int64 {
  /// The first tick of `to` that is at or after this tick of `from`, less 1 ms where the bases differ:
  /// the grain of containers that count milliseconds. Clamped to what 64 bits hold.
  func firstTick(of to: Rational, from: Rational) -> Int64 {
    guard to != from else { return self }
    let seconds = Double(self) * from.doubleValue - 0.001
    let ticks = (seconds / to.doubleValue).rounded(.up)
    guard ticks.isFinite else { return .max }
    return Int64(exactly: Swift.min(Swift.max(ticks, -0x1p62), 0x1p62)) ?? .max
  }
}
