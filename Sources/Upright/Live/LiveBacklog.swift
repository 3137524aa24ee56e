/// Whether a live session has fallen behind its input, and which pictures it leaves out to catch up.
///
/// Behind is who is further from the publisher's times than he was at his best, with pictures waiting
/// for him. Times are ticks of the live clock.
struct LiveBacklog {
  /// The least by which pictures were behind their times; nil before the first.
  private var leastLag: Int64?
  private var isCatchingUp = false

  /// How far behind catching up begins, and where it ends.
  private let far: Int64
  private let near: Int64
  /// One picture is always shown in so many ticks.
  private static let longestHole = LiveClock.rate / 2

  /// - Parameter seconds: how far behind one may be.
  init(seconds: Double = 1) {
    far = Int64(min(max(seconds, 0), 3600) * Double(LiveClock.rate))
    near = far * 3 / 4
  }

  /// Whether a picture must be left out.
  ///
  /// - Parameters:
  ///   - time: its place in media time.
  ///   - wall: now.
  ///   - waited: for how long nothing was there before it came.
  ///   - step: the usual distance of two pictures.
  ///   - isFull: whether as many wait behind it as may.
  ///   - shown: the place of the last picture that was shown.
  mutating func skips(
    _ time: Int64, wall: Int64, waited: Int64, step: Int64, isFull: Bool, shown: Int64
  ) -> Bool {
    let lag = wall - time
    let least = min(leastLag ?? lag, lag)
    leastLag = least
    if isFull && lag - least > far { isCatchingUp = true }
    // A publisher that had paused and goes on at his own speed has left nothing to catch up with.
    if lag - least < near || waited > step / 2 { isCatchingUp = false }
    return isCatchingUp && time - shown < Self.longestHole
  }
}
