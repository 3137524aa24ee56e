/// Judges whether an input is lost, by what arrives.
///
/// Only time that the session spent waiting counts. A process that was stopped for a while, or that is too
/// slow for its input, has lost nothing: frames are waiting for it. Times are ticks of the live clock.
struct LiveArrival {
  /// Video packets that had arrived at the last call.
  private var arrived = 0
  private var last: Int64?
  private var silence: Int64 = 0

  /// Ticks without a frame after which the input is lost.
  private static let patience = LiveClock.rate
  /// The longest time between two calls that counts as waiting.
  private static let longestStep = LiveClock.rate / 10

  /// Notes how things are, several times a second.
  ///
  /// - Parameters:
  ///   - wall: now.
  ///   - arrived: video packets that have arrived so far.
  ///   - isBusy: whether frames are waiting, or a packet is being decoded.
  /// - Returns: whether no frame has arrived for a second.
  mutating func isLost(wall: Int64, arrived: Int, isBusy: Bool) -> Bool {
    let step = wall - (last ?? wall)
    last = wall
    if isBusy || arrived != self.arrived {
      silence = 0
    } else {
      silence += min(max(step, 0), Self.longestStep)
    }
    self.arrived = arrived
    return silence > Self.patience
  }
}
