internal import UprightOrientation
internal import UprightMediaIO

/// Gives every frame a timestamp higher than the previous one. Raw streams have no timestamps, and damaged
/// streams repeat them, go back or jump ahead.
///
/// A timestamp far ahead is a real gap if the next frame continues from there, and damage if the next frame
/// is back near the old timestamps. Without looking at the next frame, all frames after a false jump would be
/// one tick apart until the clock has caught up.
struct TimestampRepair {
  private let usualDuration: Int64
  private var last: Int64?
  private var lastDuration: Int64 = 0
  /// The number of frames whose timestamp was changed.
  private(set) var repairs = 0

  init(timeBase: Rational, frameRate: Rational?) {
    let usual = MediaTime(1, (frameRate ?? Rational(25, 1)).inverted).rescaled(to: timeBase)
    usualDuration = min(max(1, usual.ticks), Int64.plausibleDurations.upperBound)
  }

  private var step: Int64 { lastDuration > 0 ? lastDuration : usualDuration }

  /// Returns whether the next frame must be seen before this one: it is the very first frame, or it comes
  /// later than two frames would.
  func isDoubtful(_ frame: borrowing VideoFrame) -> Bool {
    guard let pts = Self.time(of: frame) else { return false }
    guard let last else { return true }
    return pts - last > 2 * step
  }

  /// - Parameter next: The following frame's timestamp, if it was waited for.
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

  /// Returns a timestamp for a frame at `pts` if the next frame's timestamp, `following`, shows that `pts` is
  /// wrong. Returns `nil` if `following` is wrong instead.
  private func mended(_ pts: Int64, before following: Int64) -> Int64? {
    // Nothing before them shows which of the two is wrong; the file continues from the later one.
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
