/// Which sessions drop frames first while there are too few processors for all.
enum SessionPriority: String, CaseIterable, Codable, Sendable {
  /// First: it has an eighth of the weight of a normal one.
  case low
  case normal
  /// Last: it has twice the weight of a normal one.
  case high

  /// The difference from the niceness of a normal session. Three steps halve the weight, as `nice(1)` counts.
  var steps: Int32 {
    switch self {
    case .low: 9
    case .normal: 0
    case .high: -3
    }
  }
}
