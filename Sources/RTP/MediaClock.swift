/// Makes one rising timeline of RTP timestamps, which begin anywhere, wrap after 2^32 ticks, and begin
/// anew with a new source.
///
/// A step that the time of arrival bears out is a pause and stays; one that it does not is a new
/// beginning, and is placed by the time of arrival.
struct MediaClock: Sendable {
  private struct Moment {
    var timestamp: UInt32
    /// Ticks since the first.
    var ticks: Int64
    var arrival: Int64?
  }

  private let rate: Int64
  private var last: Moment?
  private var highest: Int64 = 0

  /// Milliseconds that a pause is taken to last at most: 24 days.
  private static let longestPause = Int64(1) << 31

  /// What sums of a hostile stream are held within.
  private static let limits = -(Int64(1) << 56)...(Int64(1) << 56)

  /// - Parameter rate: ticks a second.
  init(rate: Int) { self.rate = Int64(min(max(1, rate), 1 << 31)) }

  /// Ticks since the stream's first packet, for the next packet in order of sequence.
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
      // Where nothing says how long it took, a frame at 30 a second.
      ticks = highest + max(waited ?? 0, rate / 30)
    }
    ticks = min(max(ticks, Self.limits.lowerBound), Self.limits.upperBound)
    self.last = Moment(timestamp: timestamp, ticks: ticks, arrival: arrival ?? last.arrival)
    highest = max(highest, ticks)
    return ticks
  }

  private func isPlausible(_ step: Int64, _ waited: Int64?, _ isRestart: Bool) -> Bool {
    // Pictures that are sent in decoding order go back a little.
    if abs(step) <= rate, !isRestart { return true }
    guard let waited else { return !isRestart && step > -10 * rate && step < 3600 * rate }
    // Packets are held up on the way, or come in one burst.
    return abs(step - waited) <= (isRestart ? 2 : 10) * rate
  }
}
