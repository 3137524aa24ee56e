/// Decides from packet arrivals whether an input is lost.
///
/// Only time that the session spent waiting counts. If the process was stopped for a while, or is too slow
/// for its input, nothing is lost: frames are queued. Times are in ticks of `LiveClock`.
struct InputLossDetector {
  /// The number of video packets that had arrived at the last call.
  private var arrived = 0
  /// The time of the last call.
  private var last: Int64?
  /// The time spent waiting since the last packet, in ticks.
  private var waited: Int64 = 0

  /// The input is lost after this time without a frame, in ticks.
  private static let timeout = LiveClock.rate
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
      waited = 0
    } else {
      waited += min(max(step, 0), Self.longestStep)
    }
    self.arrived = arrived
    return waited > Self.timeout
  }
}
