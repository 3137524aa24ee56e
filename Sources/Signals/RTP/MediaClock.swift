/// Maps RTP timestamps to one continuous timeline. RTP timestamps start at any value, wrap after 2^32 ticks,
/// and restart with a new source.
///
/// A step that agrees with the arrival times is a pause and is kept. Any other large step is a restart, and
/// is placed by its arrival time.
struct MediaClock: Sendable {
  private struct Moment {
    var timestamp: UInt32
    /// Ticks since the first packet.
    var ticks: Int64
    var arrival: Int64?
  }

  private let rate: Int64
  private var last: Moment?
  private var highest: Int64 = 0

  /// The longest pause, in milliseconds: 24 days.
  private static let longestPause = Int64(1) << 31

  /// The limits of the timeline, which keep sums from a hostile stream from overflowing.
  private static let limits = -(Int64(1) << 56)...(Int64(1) << 56)

  /// - Parameter rate: Ticks per second.
  init(rate: Int) { self.rate = Int64(min(max(1, rate), 1 << 31)) }

  /// Returns the ticks since the stream's first packet, for the next packet in sequence order.
  mutating func ticks(of timestamp: UInt32, arrival: Int64?, isRestart: Bool) -> Int64 {
    guard let last else {
      self.last = Moment(timestamp: timestamp, ticks: 0, arrival: arrival)
      return 0
    }
    let step = Int64(Int32(bitPattern: timestamp &- last.timestamp))
    var waited: Int64?
    if let arrival, let before = last.arrival {
      let (pause, isHuge) = arrival.subtractingReportingOverflow(before)
      waited = (isHuge ? Self.longestPause : min(max(0, pause), Self.longestPause)) * rate / 1000
    }
    var ticks = last.ticks + step
    if !isPlausible(step, waited, isRestart) {
      // Without arrival times, assume a frame at 30 frames per second.
      ticks = highest + max(waited ?? 0, rate / 30)
    }
    ticks = min(max(ticks, Self.limits.lowerBound), Self.limits.upperBound)
    self.last = Moment(timestamp: timestamp, ticks: ticks, arrival: arrival ?? last.arrival)
    highest = max(highest, ticks)
    return ticks
  }

  /// Returns the ticks of a timestamp near the last packet's, or `nil` before the first packet.
  func ticks(near timestamp: UInt32) -> Int64? {
    last.map { $0.ticks + Int64(Int32(bitPattern: timestamp &- $0.timestamp)) }
  }

  private func isPlausible(_ step: Int64, _ waited: Int64?, _ isRestart: Bool) -> Bool {
    // Frames are sent in decoding order, so timestamps may decrease a little.
    if abs(step) <= rate, !isRestart { return true }
    guard let waited else { return !isRestart && step > -10 * rate && step < 3600 * rate }
    // Packets may be delayed on the way, or arrive in one burst.
    return abs(step - waited) <= (isRestart ? 2 : 10) * rate
  }
}
