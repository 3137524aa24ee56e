internal import Orientation

/// Decides whether a live session has fallen behind its input, and which frames it drops to catch up.
///
/// A session is behind if it is further from the publisher's times than it was at its best, and has had
/// nothing to wait for. Times are ticks of the live clock.
struct LiveBacklog {
  /// The least by which frames were behind their times; nil before the first.
  private var leastLag: Int64?
  private(set) var isCatchingUp = false
  /// When a frame was last dropped.
  private var lastDrop: Int64?
  /// Since when the session has not waited for its input.
  private var busySince: Int64?

  /// How far behind its times the last frame was, compared to the best.
  private(set) var behind: Int64 = 0

  /// How far behind catching up begins, and where it ends.
  private let far: Int64
  private let near: Int64
  /// One frame is always shown in so many ticks.
  private static let longestHole = LiveClock.rate / 2
  /// How long a session is busy before it can be called slow: a burst of frames is over by then.
  private static let patience = LiveClock.rate / 4
  /// How long after the last dropped frame a session still counts as overloaded.
  private static let memory = 2 * LiveClock.rate

  /// - Parameter seconds: how far behind a session may be.
  init(seconds: Double = 1) {
    far = Int64(clamping: min(max(seconds, 0), 3600) * Double(LiveClock.rate))
    near = far * 3 / 4
  }

  /// Whether a frame must be dropped.
  ///
  /// - Parameters:
  ///   - time: the frame's place in media time.
  ///   - wall: now.
  ///   - waited: for how long the input had nothing to read before the frame.
  ///   - step: the usual distance of two frames.
  ///   - shown: the place of the last frame that was shown.
  mutating func drops(
    _ time: Int64, wall: Int64, waited: Int64, step: Int64, shown: Int64
  ) -> Bool {
    let lag = wall - time
    let least = min(leastLag ?? lag, lag)
    leastLag = least
    behind = lag - least
    let since = waited > step / 8 ? wall : busySince ?? wall
    busySince = since
    if wall - since > Self.patience && behind > far { isCatchingUp = true }
    // A publisher that had paused and goes on at its own speed has left nothing to catch up with.
    if behind < near || waited > step / 2 { isCatchingUp = false }
    guard isCatchingUp && time - shown < Self.longestHole else { return false }
    lastDrop = wall
    return true
  }

  /// Whether frames are being dropped, or were a moment ago.
  func isOverloaded(wall: Int64) -> Bool {
    isCatchingUp || lastDrop.map { wall - $0 < Self.memory } ?? false
  }
}
