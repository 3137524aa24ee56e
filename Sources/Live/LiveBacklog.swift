internal import UprightOrientation
internal import UprightMediaIO

/// Decides whether a live session has fallen behind its input, and which frames it drops to catch up.
///
/// A session is behind if its lag relative to the publisher's timestamps is larger than its smallest lag so
/// startLag, and it has not waited for input. Times are in ticks of `LiveClock`.
struct LiveBacklog {
  /// The smallest lag so far; `nil` before the first frame.
  private var leastLag: Int64?
  private(set) var isCatchingUp = false
  /// The time when a frame was last dropped.
  private var lastDrop: Int64?
  /// The time since when the session has not waited for input.
  private var busySince: Int64?

  /// The lag of the last frame, relative to the smallest lag so far.
  private(set) var behind: Int64 = 0

  /// Dropping starts above `startLag` and stops below `stopLag`, both lags in ticks.
  private let startLag: Int64
  private let stopLag: Int64
  /// At least one frame is shown in each interval of this length, in ticks.
  private static let longestGap = LiveClock.rate / 2
  /// How long a session must be busy before it counts as slow. A burst of frames takes less time than this.
  private static let minimumBusyTime = LiveClock.rate / 4
  /// How long a session counts as overloaded after the last dropped frame.
  private static let overloadTime = 2 * LiveClock.rate

  /// - Parameter seconds: The lag above which frames are dropped, in seconds.
  init(seconds: Double = 1) {
    startLag = LiveClock.timeBase.ticks(in: min(max(seconds, 0), 3600))
    stopLag = startLag * 3 / 4
  }

  /// Returns whether a frame must be dropped.
  ///
  /// - Parameters:
  ///   - time: The frame's media time.
  ///   - wall: The current time.
  ///   - waited: How long the session waited for input before the frame.
  ///   - step: The usual distance between two frames.
  ///   - shown: The media time of the last frame that was shown.
  mutating func drops(
    _ time: Int64, wall: Int64, waited: Int64, step: Int64, shown: Int64
  ) -> Bool {
    let lag = wall - time
    let least = min(leastLag ?? lag, lag)
    leastLag = least
    behind = lag - least
    let since = waited > step / 8 ? wall : busySince ?? wall
    busySince = since
    if wall - since > Self.minimumBusyTime && behind > startLag { isCatchingUp = true }
    // A publisher that paused and resumed at normal speed leaves no backlog.
    if behind < stopLag || waited > step / 2 { isCatchingUp = false }
    guard isCatchingUp && time - shown < Self.longestGap else { return false }
    lastDrop = wall
    return true
  }

  /// Whether frames are being dropped, or were dropped less than `overloadTime` ticks ago.
  func isOverloaded(wall: Int64) -> Bool {
    isCatchingUp || lastDrop.map { wall - $0 < Self.overloadTime } ?? false
  }
}
