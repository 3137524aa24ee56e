internal import MediaIO
internal import Orientation

/// Gives every frame a timestamp, each higher than the one before: raw streams have none, and damaged
/// ones repeat them or go back.
struct TimestampRepair {
  private let usualDuration: Int64
  private var last: Int64?
  private var lastDuration: Int64 = 0
  /// Frames whose timestamp had to be changed.
  private(set) var repairs = 0

  init(timeBase: Rational, frameRate: Rational?) {
    let seconds = 1 / (frameRate?.doubleValue ?? 25)
    usualDuration = max(1, Int64((seconds / timeBase.doubleValue).rounded()))
  }

  mutating func repair(_ frame: inout VideoFrame) {
    let next = last.map { $0 + (lastDuration > 0 ? lastDuration : usualDuration) }
    // Far enough from the ends that no sum of ours overflows, whatever a file claims.
    let plausible = -(Int64(1) << 60)...(Int64(1) << 60)
    var pts = frame.pts.flatMap { plausible.contains($0) ? $0 : nil } ?? next ?? 0
    if let last, pts <= last {
      pts = last + 1
      repairs += 1
    }
    if !(0...(Int64(1) << 40)).contains(frame.duration) { frame.duration = 0 }
    if frame.duration == 0 { frame.duration = usualDuration }
    frame.pts = pts
    last = pts
    lastDuration = frame.duration
  }
}
