#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The functions that need the C library, with exact results for quarter turns.
enum Trigonometry {
  /// Returns the sine and cosine of an angle in radians: exactly -1, 0 or 1 if the angle is the
  /// `Double` nearest to a multiple of a quarter turn (`sin(.pi)` itself is 1.2e-16).
  static func sineAndCosine(radians: Double) -> (sine: Double, cosine: Double) {
    let quarters = radians / (.pi / 2)
    let nearest = quarters.rounded()
    // Beyond this many turns, doubles can't separate a quarter turn from its neighbours.
    if abs(nearest) < 1_048_576, abs(quarters - nearest) <= 4 * max(1, abs(nearest)).ulp {
      return exact(quarterTurns: Int(nearest))
    }
    return (sin(radians), cos(radians))
  }

  /// Returns the sine and cosine of whole quarter turns.
  static func exact(quarterTurns: Int) -> (sine: Double, cosine: Double) {
    switch quarterTurns & 3 {
    case 0: (0, 1)
    case 1: (1, 0)
    case 2: (0, -1)
    default: (-1, 0)
    }
  }

  /// Returns the angle from the x axis towards the y axis in degrees, -180...180.
  static func degrees(y: Double, x: Double) -> Double { atan2(y, x) * 180 / .pi }

  /// Returns the arcsine of `sine` in degrees, -90...90. A value just outside -1...1 is clamped.
  static func degrees(sine: Double) -> Double { asin(min(1, max(-1, sine))) * 180 / .pi }

  /// Returns the length of a vector, without intermediate overflow.
  static func length(_ x: Double, _ y: Double) -> Double { hypot(x, y) }
}
