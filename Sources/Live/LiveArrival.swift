/// Decides from packet arrivals whether an input is lost.
///
/// Only time that the session spent waiting counts. If the process was stopped for a while, or is too slow
/// for its input, nothing is lost: frames are queued. Times are in ticks of `LiveClock`.
struct LiveArrival {
  /// The number of video packets that had arrived at the last call.
  private var arrived = 0
  private var last: Int64?
  private var silence: Int64 = 0

  /// The input is lost after this time without a frame, in ticks.
  private static let patience = LiveClock.rate
  /// The longest time between two calls that counts as waiting.
  private static let longestStep = LiveClock.rate / 10

  /// Updates the state. Call this several times per second.
  ///
  /// - Parameters:
  ///   - wall: The current time.
  ///   - arrived: The number of video packets that have arrived so far.
  ///   - isBusy: Whether frames are queued, or a packet is being decoded.
  /// - Returns: Whether no frame has arrived for a second.
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
