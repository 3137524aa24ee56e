/// The coefficients of every output sample along one axis, in 14 fraction bits.
struct FilterBank {
  /// What one output is made of.
  struct Row {
    /// The first sample.
    var start: Int
    /// One coefficient a sample; they add up to 2^14.
    var coefficients: [Int16]
  }

  var rows: [Row]

  /// The most coefficients that an output has.
  var longest: Int { rows.reduce(1) { max($0, $1.coefficients.count) } }

  /// - Parameters:
  ///   - isReversed: whether the destination runs against the source.
  ///   - step: what coefficients are multiples of, a power of two.
  ///   - startsEven: whether every start is to be even; a coefficient of 0 fills the gap.
  init(
    from source: SampleGrid, to destination: SampleGrid, filter: ResampleFilter, isReversed: Bool,
    step: Int, startsEven: Bool
  ) {
    let scale = source.length / destination.length
    let radius = filter.radius(scale: scale)
    rows = (0..<destination.count).map { output in
      let place = (Double(output) + 0.5 + destination.shift) / destination.length
      let centre = (isReversed ? 1 - place : place) * source.length - 0.5 - source.shift
      var weights: [Double] = []
      let (start, end) = Self.reach(centre, radius, source.count)
      for sample in Int((centre - radius).rounded(.up))...Int((centre + radius).rounded(.down)) {
        let weight = filter.weight(Double(sample) - centre, scale: scale)
        // Outside there is more of what is at the edge.
        let index = min(max(sample, start), end) - start
        while weights.count <= index { weights.append(0) }
        weights[index] += weight
      }
      return Self.row(weights, start: start, step: step, startsEven: startsEven)
    }
    straighten(isReversed: isReversed)
  }

  /// Lets no output start before the one that comes before it along the source: rounding to 0 may have
  /// cut more from that one's coefficients.
  private mutating func straighten(isReversed: Bool) {
    var lowest = Int.max
    for index in isReversed ? Array(rows.indices) : rows.indices.reversed() {
      lowest = min(lowest, rows[index].start)
      let gap = rows[index].start - lowest
      rows[index].coefficients.insert(contentsOf: Array(repeating: 0, count: gap), at: 0)
      rows[index].start = lowest
    }
  }

  /// The samples of 0..<count that a kernel reaches.
  private static func reach(_ centre: Double, _ radius: Double, _ count: Int) -> (Int, Int) {
    let first = Int((centre - radius).rounded(.up))
    let last = Int((centre + radius).rounded(.down))
    return (min(max(first, 0), count - 1), min(max(last, 0), count - 1))
  }

  /// Whole multiples of `step` that add up to 2^14, as near to the weights as such numbers come.
  private static func row(
    _ weights: [Double], start: Int, step: Int, startsEven: Bool
  ) -> Row {
    let one = (1 << Int(14)) / step
    let factor = Double(one) / weights.reduce(0, +)
    var numbers = weights.map { Int(($0 * factor).rounded()) }
    var missing = one - numbers.reduce(0, +)
    while missing != 0 {
      let sign = missing > 0 ? 1 : -1
      // Where one more, or less, is the smallest mistake.
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
    return Row(start: start, coefficients: numbers.map { Int16($0 * step) })
  }

  /// The mean over all outputs of the squared distance between two banks' coefficients, 1 being 1.0:
  /// what the difference adds to the noise of a picture, over the variance of what a kernel sees.
  func noise(against exact: FilterBank) -> Double {
    var sum = 0.0
    for (row, other) in zip(rows, exact.rows) {
      let first = min(row.start, other.start)
      let end = max(row.start + row.coefficients.count, other.start + other.coefficients.count)
      for sample in first..<end {
        let difference = Double(row.coefficient(at: sample)) - Double(other.coefficient(at: sample))
        sum += difference * difference
      }
    }
    return sum / Double(max(1, rows.count)) / Double(1 << 28)
  }
}

extension FilterBank.Row {
  fileprivate func coefficient(at sample: Int) -> Int16 {
    let index = sample - start
    return coefficients.indices.contains(index) ? coefficients[index] : 0
  }
}
