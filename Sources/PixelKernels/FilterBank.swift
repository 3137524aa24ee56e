/// The coefficients of every output sample along one axis, with 14 fraction bits.
struct FilterBank {
  /// The source samples of one output sample, and their coefficients.
  struct Row {
    /// The index of the first source sample.
    var start: Int
    /// One coefficient per source sample. They add up to 2^14.
    var coefficients: [Int16]
  }

  var rows: [Row]

  /// The largest number of coefficients of an output.
  var longest: Int { rows.reduce(1) { max($0, $1.coefficients.count) } }

  /// - Parameters:
  ///   - isReversed: Whether the destination runs in the opposite direction to the source.
  ///   - startsEven: Whether every start is even. A coefficient of 0 fills the gap.
  init(
    from source: SampleGrid, to destination: SampleGrid, filter: ResampleFilter, isReversed: Bool,
    startsEven: Bool
  ) {
    let scale = source.length / destination.length
    let radius = filter.radius(scale: scale)
    rows = destination.written.map { output in
      let place = (Double(output) + 0.5 + destination.shift) / destination.length
      let centre = (isReversed ? 1 - place : place) * source.length - 0.5 - source.shift
      var weights: [Double] = []
      let (start, end) = Self.reach(centre, radius, source.count)
      for sample in Int((centre - radius).rounded(.up))...Int((centre + radius).rounded(.down)) {
        let weight = filter.weight(Double(sample) - centre, scale: scale)
        // Outside the plane, the sample at the edge is repeated.
        let index = min(max(sample, start), end) - start
        while weights.count <= index { weights.append(0) }
        weights[index] += weight
      }
      return Self.row(weights, start: start, startsEven: startsEven)
    }
    straighten(isReversed: isReversed)
  }

  /// Makes the starts monotonic along the source. Rounding to 0 may have removed more leading coefficients of
  /// one output than of the next.
  private mutating func straighten(isReversed: Bool) {
    var lowest = Int.max
    for index in isReversed ? Array(rows.indices) : rows.indices.reversed() {
      lowest = min(lowest, rows[index].start)
      let gap = rows[index].start - lowest
      rows[index].coefficients.insert(contentsOf: Array(repeating: 0, count: gap), at: 0)
      rows[index].start = lowest
    }
  }

  /// Returns the first and the last index in 0..<count within the filter's radius.
  private static func reach(_ centre: Double, _ radius: Double, _ count: Int) -> (Int, Int) {
    let first = Int((centre - radius).rounded(.up))
    let last = Int((centre + radius).rounded(.down))
    return (min(max(first, 0), count - 1), min(max(last, 0), count - 1))
  }

  /// Returns coefficients that add up to 2^14 and are as close to the weights as possible.
  private static func row(_ weights: [Double], start: Int, startsEven: Bool) -> Row {
    let one = 1 << 14
    let factor = Double(one) / weights.reduce(0, +)
    var numbers = weights.map { Int(($0 * factor).rounded()) }
    var missing = one - numbers.reduce(0, +)
    while missing != 0 {
      let sign = missing > 0 ? 1 : -1
      // Corrects the coefficient where one step more, or less, causes the smallest error.
      var best = 0
      var largest = -Double.infinity
      for (index, weight) in weights.enumerated() {
        let error = (weight * factor - Double(numbers[index])) * Double(sign)
        if error > largest { (best, largest) = (index, error) }
      }
      numbers[best] += sign
      missing -= sign
    }
    var start = start
    while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
    let leading = numbers.prefix { $0 == 0 }.count
    numbers.removeFirst(leading)
    start += leading
    if startsEven, start % 2 == 1 {
      numbers.insert(0, at: 0)
      start -= 1
    }
    return Row(start: start, coefficients: numbers.map { Int16($0) })
  }
}
