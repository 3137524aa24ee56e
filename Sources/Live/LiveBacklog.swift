internal import UprightOrientation
internal import UprightMediaIO

/// Decides whether a live session has fallen behind its input, and which frames it drops to catch up.
///
/// A session is behind by the video that has arrived and isn't shown. A burst, with which a connection begins or as which
/// some networks deliver everything, shrinks quickly and costs no frame. While the backlog doesn't shrink, frames are
/// dropped evenly, more and more of them; above the limit, everything before the newest keyframe. Times are in ticks of
/// `LiveClock`.
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
  /// The time when the share was last changed, and the smallest backlog before it.
  private var checked: (wall: Int64, behind: Int64)?
  /// The smallest backlog since then, and when it was.
  private var least: (wall: Int64, behind: Int64) = (0, 0)
  /// How much video has arrived at once lately. In the time that it lasts, the backlog shrinks without being smaller at the
  /// end.
  private var burst: Int64 = 0
  /// How many times in a row the backlog was large and didn't shrink. Once may be a process that was stopped.
  private var stalls = 0
  /// The time when a frame was last dropped.
  private var lastDrop: Int64?
  /// The time of the last answer.
  private var lastAnswer: Int64?
  /// Since when the backlog has been above the limit whenever `isOverloaded` was asked.
  private var behindSince: Int64?

  /// The backlog above which packets are skipped.
  private let limit: Int64
  /// How often the share changes, if there are no longer bursts.
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
      (checked, least) = ((wall, behind), (wall, behind))
      return .show
    }
    burst = max(burst, behind - least.behind - (wall - least.wall))
    if behind < least.behind { least = (wall, behind) }
    var skips = false
    let elapsed = wall - last.wall
    if elapsed >= max(Self.interval, min(burst * 5 / 4, 4 * limit)) {
      let isShrinking = least.behind < last.behind - elapsed / 20
      stalls = least.behind > limit / 2 && !isShrinking ? stalls + 1 : 0
      checked = (wall, least.behind)
      if stalls > 1 {
        share = max(share * 0.75, Self.leastShare)
        skips = least.behind > limit
        if skips { checked = (wall, 0) }
      } else if least.behind < limit / 4 {
        share = min(share * 1.1, 1)
      }
      least = (wall, behind)
      burst = burst * 3 / 4
    }
    due = min(due + share, 2)
    if due >= 1, !skips {
      due -= 1
      return .show
    }
    lastDrop = wall
    return skips ? .skip : .drop
  }

  /// Returns whether frames were dropped less than `overloadTime` ticks ago, or the session gets none decoded although it
  /// is behind by more than the limit. It is asked again and again.
  mutating func isOverloaded(behind: Int64, wall: Int64) -> Bool {
    behindSince = behind > limit ? behindSince ?? wall : nil
    let drops = lastDrop.map { wall - $0 < Self.overloadTime } ?? false
    // Before the first frame, nothing is behind.
    guard let lastAnswer, let behindSince else { return drops }
    return drops || wall - max(lastAnswer, behindSince) > Self.stallTime
  }
}
