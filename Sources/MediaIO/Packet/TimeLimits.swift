internal import CUprightFFmpeg
package import UprightOrientation

// Files and publishers can contain any timestamp. `Demuxer` checks each one once when it is read; conversions
// are clamped here. Between the two, sums of a few timestamps don't overflow.

extension Int64 {
  /// The ticks that are accepted as a timestamp. Sums of seven don't overflow.
  package static let plausibleTicks = -(Int64(1) << 60)...(Int64(1) << 60)

  /// The ticks that are accepted as the duration of a packet or a frame.
  package static let plausibleDurations = 0...(Int64(1) << 40)

  /// The integer nearest to `ticks`, clamped to `plausibleTicks`. 0 for NaN.
  package init(clampingTicks ticks: Double) {
    let limit = 0x1p60
    self = ticks.isNaN ? 0 : Int64(Swift.min(Swift.max(ticks.rounded(), -limit), limit))
  }

  /// Converts ticks of `old` to ticks of `new`, clamped to `plausibleTicks`.
  package func rescaled(from old: Rational, to new: Rational) -> Int64 {
    MediaTime(self, old).plausibleTicks(of: new)
  }
}

extension MediaTime {
  /// Returns the tick of `timeBase` that is nearest to this time, clamped to `Int64.plausibleTicks`.
  package func plausibleTicks(of timeBase: Rational) -> Int64 {
    let limits = Int64.plausibleTicks
    return min(max(rescaled(to: timeBase).ticks, limits.lowerBound), limits.upperBound)
  }
}

extension Rational {
  /// Returns the tick of this time base that is nearest to `seconds`, clamped to `Int64.plausibleTicks`.
  package func ticks(in seconds: Double) -> Int64 {
    Int64(clampingTicks: seconds / doubleValue)
  }

  /// Returns whether `ticks` in this time base is a plausible timestamp: it is in `Int64.plausibleTicks` and
  /// less than 2^32 seconds (136 years) from zero, so that any other time base can represent it.
  func isPlausible(_ ticks: Int64) -> Bool {
    Int64.plausibleTicks.contains(ticks) && abs(Double(ticks) * doubleValue) < 0x1p32
  }
}

extension Packet {
  /// Adds `offset`, rounded to the nearest tick, to both timestamps.
  package mutating func move(by offset: MediaTime) {
    let ticks = offset.plausibleTicks(of: timeBase)
    pts = pts.map { $0 + ticks }
    dts = dts.map { $0 + ticks }
  }

  /// Cuts off what is shown before `start` and from `end` on of a packet that is shown for its duration, as a subtitle is.
  /// Returns whether any of it is left; of a packet of unknown duration, whether it begins in between.
  package mutating func limit(from start: MediaTime?, to end: MediaTime?) -> Bool {
    guard let time else { return true }
    let from = max(time, start ?? time)
    let until = min(time + length, end ?? time + length)
    guard duration > 0 else { return from == time && end.map { time < $0 } ?? true }
    guard from < until else { return false }
    let ticks = from.plausibleTicks(of: timeBase)
    (pts, dts, duration) = (ticks, ticks, until.plausibleTicks(of: timeBase) - ticks)
    return true
  }

  /// Sets implausible timestamps to `nil` and an implausible duration to 0.
  mutating func dropImplausibleTimes() {
    let tick = timeBase
    if let pts, !tick.isPlausible(pts) { self.pts = nil }
    if let dts, !tick.isPlausible(dts) { self.dts = nil }
    if !Int64.plausibleDurations.contains(duration) || !tick.isPlausible(duration) { duration = 0 }
  }
}

/// Calls `av_rescale_q` and clamps the result to `Int64.plausibleTicks`. libavutil returns `Int64.min` on
/// overflow.
func rescale(_ ticks: Int64, from old: AVRational, to new: AVRational) -> Int64 {
  let result = av_rescale_q(ticks, old, new)
  let limits = Int64.plausibleTicks
  // `Int64.min` doesn't tell the sign of the result.
  if result == .min { return ticks < 0 ? limits.lowerBound : limits.upperBound }
  return min(max(result, limits.lowerBound), limits.upperBound)
}
