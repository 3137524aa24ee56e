/// A histogram of durations. The buckets are fixed, as in a Prometheus histogram, so the histograms of
/// several sessions, machines or hours can be added.
public struct DurationHistogram: Sendable, Hashable {
  /// The upper bounds of the buckets, in seconds. One more bucket, without an upper bound, follows.
  public static let bounds = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.033, 0.05, 0.1, 0.2, 0.5, 1, 2,
  ]

  /// The number of durations in each bucket: `bounds.count + 1` values.
  public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  /// The sum of all durations, in seconds.
  public private(set) var sum = 0.0

  /// Creates an empty histogram.
  public init() {}

  /// The number of durations.
  public var count: Int { counts.reduce(0, +) }

  /// Adds a duration, in seconds. Counts a negative duration as zero and ignores one that is not finite.
  public mutating func add(_ seconds: Double) {
    guard seconds.isFinite else { return }
    let seconds = max(0, seconds)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }

  /// Adds all durations of `other`.
  public mutating func add(_ other: DurationHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }
}
