internal import UprightOrientation
internal import UprightMediaIO

/// Decides whether a live session has fallen behind its input, and which frames it drops to catch up.
///
/// A session is behind by the video that has arrived and isn't shown. A burst, with which a connection begins, shrinks
/// quickly and costs no frame. While the backlog doesn't shrink, frames are dropped evenly, more and more of them; above
/// the limit, everything before the newest keyframe. Times are in ticks of `LiveClock`.
struct LiveBacklog {
  enum Answer {
    /// The frame is shown.
    case show
    /// The frame is dropped.
    case drop
    /// The frame is dropped, and everything that has arrived before the newest keyframe.
    case skip
  }

  /// The share of the frames that is shown.
  private var share = 1.0
  /// What is left of the share, of which a whole one shows a frame.
  private var due = 1.0
  /// The time and the backlog when the share was last changed.
  private var checked: (wall: Int64, behind: Int64)?
  /// How many times in a row the backlog was large and didn't shrink. Once may be a process that was stopped.
  private var stalls = 0
  /// The time when a frame was last dropped.
  private var lastDrop: Int64?
  /// The time of the last answer.
  private var lastAnswer: Int64?

  /// The backlog above which packets are skipped.
  private let limit: Int64
  /// How often the share changes.
  private static let interval = LiveClock.rate / 4
  /// The smallest share.
  private static let leastShare = 0.1
  /// The time without a decoded frame, of many that wait, after which a session is overloaded: it isn't a burst.
  private static let stallTime = LiveClock.rate
  /// How long a session counts as overloaded after the last dropped frame.
  private static let overloadTime = 2 * LiveClock.rate

  /// - Parameter seconds: The backlog above which packets are skipped, in seconds. From half of it on, frames are
  ///   dropped.
  init(seconds: Double = 1) {
    limit = LiveClock.timeBase.ticks(in: min(max(seconds, 0), 3600))
  }

  /// Returns what happens to a frame.
  ///
  /// - Parameters:
  ///   - behind: How much newer the newest video is that has arrived.
  ///   - wall: The current time.
  mutating func answer(behind: Int64, wall: Int64) -> Answer {
    lastAnswer = wall
    guard let last = checked else {
      checked = (wall, behind)
      return .show
    }
    var skips = false
    let elapsed = wall - last.wall
    if elapsed >= Self.interval {
      checked = (wall, behind)
      let isShrinking = behind < last.behind - elapsed / 20
      stalls = behind > limit / 2 && !isShrinking ? stalls + 1 : 0
      if stalls > 1 {
        share = max(share * 0.75, Self.leastShare)
        skips = behind > limit
        if skips { checked = (wall, 0) }
      } else if behind < limit / 4 {
        share = min(share * 1.1, 1)
      }
    }
    due = min(due + share, 2)
    if due >= 1, !skips {
      due -= 1
      return .show
    }
    lastDrop = wall
    return skips ? .skip : .drop
  }

  /// Whether frames were dropped less than `overloadTime` ticks ago, or the session gets none decoded although it is
  /// behind by more than the limit.
  func isOverloaded(behind: Int64, wall: Int64) -> Bool {
    let drops = lastDrop.map { wall - $0 < Self.overloadTime } ?? false
    return drops || behind > limit && lastAnswer.map { wall - $0 > Self.stallTime } ?? false
  }
}
