/// A fraction in lowest terms with a positive denominator, for sample aspect ratios.
public struct Rational: Sendable, Hashable {
  /// The numerator. It carries the sign.
  public let numerator: Int
  /// The denominator, at least 1.
  public let denominator: Int

  /// Creates `numerator / denominator`, reduced. A denominator of 0 gives 0/1, which is also how
  /// FFmpeg writes "not known".
  public init(_ numerator: Int, _ denominator: Int) {
    guard denominator != 0 else {
      (self.numerator, self.denominator) = (0, 1)
      return
    }
    let divisor = Self.greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
    // Int.min has no positive counterpart. Its neighbour is close enough for any frame.
    let top = Int(clamping: numerator.magnitude / divisor)
    let isNegative = (numerator < 0) != (denominator < 0)
    self.numerator = isNegative ? -top : top
    self.denominator = Int(clamping: denominator.magnitude / divisor)
  }

  /// 1/1: square pixels.
  public static let one = Rational(1, 1)

  /// The fraction as a number.
  public var doubleValue: Double { Double(numerator) / Double(denominator) }

  /// This value as a sample aspect ratio: unchanged if positive, 1:1 if 0 ("not known") or negative
  /// (invalid).
  public var asSampleAspectRatio: Rational { numerator > 0 ? self : .one }

  /// Denominator over numerator: the pixel's aspect ratio after a quarter turn; 0/1 for 0.
  public var inverted: Rational { Rational(denominator, numerator) }

  static func greatestCommonDivisor(_ a: UInt, _ b: UInt) -> UInt {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}

extension Rational: CustomStringConvertible {
  /// For example `16:15`.
  public var description: String { "\(numerator):\(denominator)" }
}
