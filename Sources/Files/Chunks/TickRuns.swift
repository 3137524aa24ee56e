internal import UprightOrientation
internal import UprightPolicy
internal import UprightMediaIO

/// Timestamps as runs of equal steps: `[start, step, count, start, step, count, ...]`. A constant frame rate is one
/// run, whatever the length.
enum TickRuns {
  /// The largest magnitude of a tick, which a JSON number holds exactly.
  static let largest = 1 << 53

  static func json(_ ticks: [Int64]) -> JSONValue {
    var numbers: [JSONValue] = []
    var index = 0
    while index < ticks.count {
      let start = ticks[index]
      var step: Int64 = 0
      var end = index + 1
      if end < ticks.count {
        step = ticks[end] - start
        while end < ticks.count, ticks[end] - ticks[end - 1] == step { end += 1 }
      }
      numbers += [.integer(Int(start)), .integer(Int(step)), .integer(end - index)]
      index = end
    }
    return .array(numbers)
  }

  /// Returns exactly `count` ticks.
  static func ticks(_ node: JSONNode, count: Int) throws(PolicyError) -> [Int64] {
    let numbers = try node.elements("runs of ticks")
    guard numbers.count % 3 == 0 else {
      throw node.failure(.value, "the runs are incomplete", remedy: "make the plan again")
    }
    var ticks: [Int64] = []
    ticks.reserveCapacity(count)
    for index in stride(from: 0, to: numbers.count, by: 3) {
      let start = try numbers[index].count(in: -largest...largest)
      let step = try numbers[index + 1].count(in: -largest...largest)
      let length = try numbers[index + 2].count(in: 1...max(1, count))
      let (span, isTooLong) = step.multipliedReportingOverflow(by: length - 1)
      // Two numbers of at most 2^53 have a sum.
      guard !isTooLong, abs(span) <= largest, abs(start + span) <= largest,
        length <= count - ticks.count
      else {
        throw node.failure(.value, "there are too many ticks", remedy: "make the plan again")
      }
      for place in 0..<length { ticks.append(Int64(start + step * place)) }
    }
    guard ticks.count == count else {
      throw node.failure(
        .value, "there are \(ticks.count) ticks instead of \(count)", remedy: "make the plan again")
    }
    return ticks
  }
}
