/// A time of a frame or packet: a count of ticks, each of a fraction of a second. Compares, adds and rescales
/// exactly, and never overflows.
public struct MediaTime: Sendable {
  /// The count, from the start of the stream; may be negative.
  public var ticks: Int64
  /// Seconds per tick, such as 1/90000; positive.
  public var timeBase: Rational

  /// `ticks` of `timeBase` seconds each. A time base that isn't positive counts as one second.
  public init(_ ticks: Int64, _ timeBase: Rational) {
    self.ticks = ticks
    self.timeBase = timeBase.numerator > 0 ? timeBase : .one
  }

  /// The time nearest to `seconds` in ticks of `timeBase`, clamped to what 64 bits hold; 0 for NaN.
  public init(seconds: Double, _ timeBase: Rational) {
    self.init(0, timeBase)
    ticks = Int64(clamping: seconds / self.timeBase.doubleValue)
  }

  /// The time in seconds.
  public var seconds: Double {
    // Multiplied before it is divided: n/25 is then the double nearest to it.
    Double(ticks) * Double(timeBase.numerator) / Double(timeBase.denominator)
  }

  /// The same time in ticks of another time base, rounded to the nearest, halves away from zero, and clamped
  /// to what 64 bits hold.
  public func rescaled(to other: Rational) -> MediaTime {
    let other = other.numerator > 0 ? other : .one
    let count = count(in: other) ?? (ticks < 0 ? .min : .max)
    return MediaTime(Int64(clamping: count), other)
  }

  /// The number of ticks of `other` that is nearest to this time, halves away from zero; `nil` if 128 bits
  /// don't hold it.
  func count(in other: Rational) -> Int128? {
    if other == timeBase { return Int128(ticks) }
    // |ticks| * n * otherD / (d * otherN)
    let ratio = Self.ratio(timeBase, other)
    let (high, low) = UInt128(ticks.magnitude).multipliedFullWidth(by: ratio.numerator)
    guard high < ratio.denominator else { return nil }
    let (quotient, remainder) =
      high == 0
      ? low.quotientAndRemainder(dividingBy: ratio.denominator)
      : ratio.denominator.dividingFullWidth((high, low))
    guard let magnitude = Int128(exactly: quotient), magnitude < .max else { return nil }
    let rounded = magnitude + (remainder >= ratio.denominator - remainder ? 1 : 0)
    return ticks < 0 ? -rounded : rounded
  }

  /// Ticks of `other` in one tick of `base`. Common factors are removed, so that usual numbers stay small.
  private static func ratio(
    _ base: Rational, _ other: Rational
  ) -> (numerator: UInt128, denominator: UInt128) {
    let numerators = Rational(base.numerator, other.numerator)
    let denominators = Rational(other.denominator, base.denominator)
    return (
      UInt128(numerators.numerator.magnitude) * UInt128(denominators.numerator.magnitude),
      UInt128(numerators.denominator.magnitude) * UInt128(denominators.denominator.magnitude)
    )
  }
}

extension MediaTime: Comparable {
  /// Whether both are the same instant, whatever their time bases.
  public static func == (a: MediaTime, b: MediaTime) -> Bool {
    a.timeBase == b.timeBase ? a.ticks == b.ticks : !(a < b) && !(b < a)
  }

  /// Whether `a` is before `b`, exactly.
  public static func < (a: MediaTime, b: MediaTime) -> Bool {
    if a.timeBase == b.timeBase { return a.ticks < b.ticks }
    if (a.ticks < 0) != (b.ticks < 0) { return a.ticks < b.ticks }
    // Of two times on the same side of zero, |a| * n / d is compared by whole parts and remainders, which
    // need no more than 128 bits.
    let (left, right) = (a.magnitude, b.magnitude)
    let isLess =
      left.whole != right.whole
      ? left.whole < right.whole : left.rest.isLess(than: right.rest)
    let isEqual = left.whole == right.whole && !isLess && !right.rest.isLess(than: left.rest)
    return a.ticks < 0 ? !isLess && !isEqual : isLess
  }

  /// A fraction below one.
  private struct Fraction {
    let numerator: UInt64
    let denominator: UInt64

    func isLess(than other: Fraction) -> Bool {
      let left = numerator.multipliedFullWidth(by: other.denominator)
      let right = other.numerator.multipliedFullWidth(by: denominator)
      return left.high != right.high ? left.high < right.high : left.low < right.low
    }
  }

  /// The time's magnitude in seconds, as whole seconds and a fraction.
  private var magnitude: (whole: UInt128, rest: Fraction) {
    let product = UInt128(ticks.magnitude) * UInt128(timeBase.numerator.magnitude)
    let denominator = UInt128(timeBase.denominator.magnitude)
    let (whole, rest) = product.quotientAndRemainder(dividingBy: denominator)
    return (
      whole, Fraction(numerator: UInt64(rest), denominator: UInt64(denominator))
    )
  }
}

extension MediaTime: Hashable {
  /// Equal times hash alike, whatever their time bases: the seconds are hashed as a fraction in lowest terms.
  public func hash(into hasher: inout Hasher) {
    let numerator = UInt128(ticks.magnitude) * UInt128(timeBase.numerator.magnitude)
    let denominator = timeBase.denominator.magnitude
    let divisor = Rational.greatestCommonDivisor(
      UInt(numerator % UInt128(denominator)), denominator)
    hasher.combine(ticks < 0)
    hasher.combine(numerator / UInt128(divisor))
    hasher.combine(denominator / divisor)
  }
}

extension MediaTime: CustomStringConvertible {
  /// `3003 * 1:90000 s`.
  public var description: String { "\(ticks) * \(timeBase) s" }
}
