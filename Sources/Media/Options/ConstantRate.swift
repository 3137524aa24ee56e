public import UprightOrientation
internal import UprightMediaIO

/// A constant rate of the output's frames (`--constant-rate`).
public enum ConstantRate: Sendable, Hashable {
  /// The rate of the input's median step from one frame to the next, or the standard one beside it.
  case usual
  /// Frames per second, in `limits`.
  case fixed(Rational)

  /// The rates that are accepted, in frames per second.
  public static let limits = 1.0...240

  /// Parses `usual`, a number such as `30` or `29.97`, or a fraction such as `30000/1001`. A number with a
  /// decimal point within a thousandth of a rate of NTSC (N x 1000/1001) is that rate.
  ///
  /// - Throws: `usage` for anything else, and for a rate outside `limits`.
  public init(parsing text: String) throws(UprightError) {
    if text.lowercased() == "usual" {
      self = .usual
    } else if let rate = Self.rate(text), Self.limits.contains(rate.doubleValue) {
      self = .fixed(rate)
    } else {
      throw UprightError(
        .usage, "\(text) is not a frame rate", at: "--constant-rate",
        remedy: "use usual, or 1 to 240: 30, 29.97, 30000/1001")
    }
  }

  /// The text that `init(parsing:)` reads.
  package var text: String {
    switch self {
    case .usual: "usual"
    case .fixed(let rate):
      rate.denominator == 1 ? "\(rate.numerator)" : "\(rate.numerator)/\(rate.denominator)"
    }
  }

  private static func rate(_ text: String) -> Rational? {
    let sides = text.split(separator: "/", omittingEmptySubsequences: false)
    if sides.count == 2 {
      guard let numerator = Int32(sides[0]), let denominator = Int32(sides[1]), denominator > 0
      else { return nil }
      return Rational(Int(numerator), Int(denominator))
    }
    if let whole = Int32(text) { return Rational(Int(whole), 1) }
    guard let number = Double(text), limits.contains(number) else { return nil }
    let ntsc = Rational(Int(clamping: number.rounded(.up)) * 1000, 1001)
    if abs(ntsc.doubleValue - number) < 0.001 * ntsc.doubleValue { return ntsc }
    return Rational(Int(clamping: (number * 1000).rounded()), 1000)
  }
}
