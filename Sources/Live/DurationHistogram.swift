/// How long something took, counted by classes of length: as Prometheus's histograms are, so that those of
/// several sessions, machines or hours can be added up.
public struct DurationHistogram: Sendable, Hashable {
  /// The upper bounds of the classes in seconds; a last class has none.
  public static let bounds = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.033, 0.05, 0.1, 0.2, 0.5, 1, 2,
  ]

  /// How many fell into each class, `bounds.count + 1` of them.
  public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
  /// Seconds, all together.
  public private(set) var sum = 0.0

  /// Nothing counted.
  public init() {}

  /// How many were counted.
  public var count: Int { counts.reduce(0, +) }

  /// Counts a duration; one below zero counts as zero, one that is no number not at all.
  public mutating func add(_ seconds: Double) {
    guard seconds.isFinite else { return }
    let seconds = max(0, seconds)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }

  /// Counts all that `other` has counted.
  public mutating func add(_ other: DurationHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    sum += other.sum
  }
}
