extension MediaTime {
  /// The start of the stream.
  public static let zero = MediaTime(0, .one)

  /// The time nearest to `seconds` in nanoseconds, clamped to what 64 bits hold (292 years); 0 for NaN. For
  /// options and other values that are given in seconds: a decimal fraction of up to nine places is exact.
  public init(seconds: Double) { self.init(seconds: seconds, Rational(1, 1_000_000_000)) }

  /// The sum.
  ///
  /// It is exact if 64 bits hold it in ticks of `a`, of `b`, or of the largest tick that divides both.
  /// Otherwise it is rounded to the nearest tick of `a` or `b`: of the finer one that holds it, or clamped to
  /// what 64 bits hold of the coarser one.
  public static func + (a: MediaTime, b: MediaTime) -> MediaTime { sum(a, b, isDifference: false) }

  /// The difference, as exact as a sum. It is negative if `a` is before `b`.
  public static func - (a: MediaTime, b: MediaTime) -> MediaTime { sum(a, b, isDifference: true) }

  /// The time at the same distance from zero on the other side, clamped to what 64 bits hold.
  public static prefix func - (time: MediaTime) -> MediaTime {
    MediaTime(Int64(clamping: -Int128(time.ticks)), time.timeBase)
  }

  /// Adds `b` to `a`. See `+`.
  public static func += (a: inout MediaTime, b: MediaTime) { a = a + b }

  /// The time `factor` times as far from zero, clamped to what 64 bits hold.
  public static func * (time: MediaTime, factor: Int) -> MediaTime {
    MediaTime(Int64(clamping: Int128(time.ticks) * Int128(factor)), time.timeBase)
  }

  /// The time `divisor` times nearer to zero, in smaller ticks; rounded toward zero if 64 bits don't hold
  /// their denominator. A divisor that isn't positive counts as 1.
  public static func / (time: MediaTime, divisor: Int) -> MediaTime {
    let divisor = max(1, divisor)
    let (denominator, overflow) =
      time.timeBase.denominator.multipliedReportingOverflow(by: divisor)
    return overflow
      ? MediaTime(time.ticks / Int64(divisor), time.timeBase)
      : MediaTime(time.ticks, Rational(time.timeBase.numerator, denominator))
  }

  /// The earliest time in ticks of `other` that is not before this one, clamped to what 64 bits hold.
  public func roundedUp(to other: Rational) -> MediaTime {
    var rounded = rescaled(to: other)
    if rounded < self, rounded.ticks < .max { rounded.ticks += 1 }
    return rounded
  }

  /// The latest time in ticks of `other` that is not after this one, clamped to what 64 bits hold.
  public func roundedDown(to other: Rational) -> MediaTime {
    var rounded = rescaled(to: other)
    if rounded > self, rounded.ticks > .min { rounded.ticks -= 1 }
    return rounded
  }

  private static func sum(_ a: MediaTime, _ b: MediaTime, isDifference: Bool) -> MediaTime {
    /// The sum in ticks of `base`; `nil` if 64 bits don't hold it.
    func sum(in base: Rational) -> MediaTime? {
      guard let first = a.count(in: base), let second = b.count(in: base) else { return nil }
      let (total, overflow) =
        isDifference
        ? first.subtractingReportingOverflow(second) : first.addingReportingOverflow(second)
      return overflow ? nil : Int64(exactly: total).map { MediaTime($0, base) }
    }
    let isFirstFiner = MediaTime(1, a.timeBase) < MediaTime(1, b.timeBase)
    let (finer, coarser) =
      isFirstFiner ? (a.timeBase, b.timeBase) : (b.timeBase, a.timeBase)
    if let held = commonTick(finer, coarser).flatMap(sum) ?? sum(in: finer) { return held }
    let (first, second) = (
      Int128(a.rescaled(to: coarser).ticks), Int128(b.rescaled(to: coarser).ticks)
    )
    return MediaTime(Int64(clamping: isDifference ? first - second : first + second), coarser)
  }

  /// Returns the largest tick of which both are multiples. Returns `nil` if 64 bits don't hold its denominator.
  private static func commonTick(_ a: Rational, _ b: Rational) -> Rational? {
    if a == b { return a }
    let shared = Rational.greatestCommonDivisor(a.denominator.magnitude, b.denominator.magnitude)
    let (product, overflow) = (a.denominator.magnitude / shared)
      .multipliedReportingOverflow(by: b.denominator.magnitude)
    guard !overflow, let denominator = Int(exactly: product),
      let numerator = Int(
        exactly: Rational.greatestCommonDivisor(a.numerator.magnitude, b.numerator.magnitude))
    else { return nil }
    return Rational(numerator, denominator)
  }
}
