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
  public var count: Int { counts.reduce(0) { $0.addingWithinBounds($1) } }

  /// Adds a duration, in seconds. Counts a negative duration as zero and ignores one that is not finite.
  public mutating func add(_ seconds: Double) {
    guard seconds.isFinite else { return }
    let seconds = max(0, seconds)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    sum += seconds
  }

  /// Adds all durations of `other`.
  public mutating func add(_ other: DurationHistogram) {
    for index in counts.indices {
      counts[index] = counts[index].addingWithinBounds(other.counts[index])
    }
    sum += other.sum
  }
}

extension DurationHistogram: Codable {
  private enum CodingKeys: String, CodingKey { case counts, sum }

  /// Writes the counts and the sum. Throws what the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(counts, forKey: .counts)
    try container.encode(sum, forKey: .sum)
  }

  /// Reads what `encode(to:)` has written.
  ///
  /// - Throws: `DecodingError` for another number of buckets, a negative count, or a sum that isn't finite.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    counts = try container.decode([Int].self, forKey: .counts)
    sum = try container.decode(Double.self, forKey: .sum)
    guard counts.count == Self.bounds.count + 1, counts.allSatisfy({ $0 >= 0 }), sum.isFinite else {
      throw DecodingError.dataCorruptedError(
        forKey: .counts, in: container, debugDescription: "not the counts of a histogram")
    }
  }
}

extension Int {
  /// Returns the sum, or the largest number if it is larger.
  fileprivate func addingWithinBounds(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
