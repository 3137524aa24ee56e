internal import Orientation
internal import UprightMediaIO

/// Gives every frame a timestamp, each higher than the one before: raw streams have none, and damaged
/// ones repeat them, go back, or leap ahead.
///
/// A time that lies far ahead is a real gap where the next frame goes on from there, and damage where
/// the next one is back near the old times: without that look ahead all frames after a leap would be
/// squeezed to a tick each, until the clock has caught up.
struct TimestampRepair {
  private let usualDuration: Int64
  private var last: Int64?
  private var lastDuration: Int64 = 0
  /// Frames whose timestamp had to be changed.
  private(set) var repairs = 0

  init(timeBase: Rational, frameRate: Rational?) {
    let seconds = 1 / (frameRate?.doubleValue ?? 25)
    usualDuration = min(
      max(1, timeBase.ticks(in: seconds)), Int64.plausibleDurations.upperBound)
  }

  private var step: Int64 { lastDuration > 0 ? lastDuration : usualDuration }

  /// Whether the frame after this one must be seen first: it is the first of all, or comes later than
  /// two frames would.
  func isDoubtful(_ frame: borrowing VideoFrame) -> Bool {
    guard let pts = Self.time(of: frame) else { return false }
    guard let last else { return true }
    return pts - last > 2 * step
  }

  /// - Parameter next: the following frame's timestamp, where that was waited for.
  mutating func repair(_ frame: inout VideoFrame, next following: Int64? = nil) {
    let expected = last.map { $0 + step }
    var pts = Self.time(of: frame) ?? expected ?? 0
    if let following, Int64.plausibleTicks.contains(following), following < pts,
      let mended = mended(pts, before: following)
    {
      pts = mended
      repairs += 1
    }
    if let last, pts <= last {
      pts = last + 1
      repairs += 1
    }
    if !Int64.plausibleDurations.contains(frame.duration) { frame.duration = 0 }
    if frame.duration == 0 { frame.duration = usualDuration }
    frame.pts = pts
    last = pts
    lastDuration = frame.duration
  }

  /// The time of a frame at `pts` that the one at `following` does not follow on; nil where that one
  /// is wrong rather than this.
  private func mended(_ pts: Int64, before following: Int64) -> Int64? {
    // Nothing before them says which of the two is wrong: the clip goes on from the later one.
    guard let last else { return following - usualDuration }
    guard following > last + 1, abs(pts - last - step) > abs(following - last - 2 * step) else {
      return nil
    }
    return last + max(1, min(step, (following - last) / 2))
  }

  private static func time(of frame: borrowing VideoFrame) -> Int64? {
    frame.pts.flatMap { Int64.plausibleTicks.contains($0) ? $0 : nil }
  }
}
