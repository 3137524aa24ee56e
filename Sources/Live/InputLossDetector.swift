/// Decides from decoded frames whether an input is lost: what can't be shown is as good as nothing.
///
/// Only time that the session spent waiting counts. If the process was stopped for a while, or is too slow
/// for its input, nothing is lost: frames are queued. Times are in ticks of `LiveClock`.
struct InputLossDetector {
  /// The number of frames that had been decoded at the last call.
  private var frames = 0
  /// The time of the last call.
  private var last: Int64?
  /// The time spent waiting since the last frame, in ticks.
  private var waited: Int64 = 0

  /// Returns the time without a frame after which the input is lost, in ticks: a second, or three frames of a slow
  /// camera.
  ///
  /// - Parameter step: The usual distance between two frames.
  static func timeout(step: Int64) -> Int64 {
    max(LiveClock.rate, 3 * min(step, LiveClock.longestStep))
  }

  /// The longest time between two calls that counts as waiting.
  private static let longestStep = LiveClock.rate / 10

  /// Updates the state. Call this several times per second.
  ///
  /// - Parameters:
  ///   - wall: The current time.
  ///   - frames: The number of frames that have been decoded so far.
  ///   - isBusy: Whether frames are queued, or a packet is being decoded.
  ///   - timeout: The time without a frame after which the input is lost.
  /// - Returns: Whether no frame has arrived for that time.
  mutating func isLost(wall: Int64, frames: Int, isBusy: Bool, timeout: Int64) -> Bool {
    let step = wall - (last ?? wall)
    last = wall
    if frames != self.frames {
      waited = 0
    } else if !isBusy {
      waited += min(max(step, 0), Self.longestStep)
    }
    self.frames = frames
    return waited > timeout
  }
}
