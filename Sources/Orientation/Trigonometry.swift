#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The few functions that need the C library, with quarter turns kept exact.
enum Trigonometry {
  /// Sine and cosine of an angle in radians; exactly -1, 0 or 1 where the angle is the nearest
  /// number there is to a multiple of a quarter turn (`sin(.pi)` itself is 1.2e-16).
  static func sineAndCosine(radians: Double) -> (sine: Double, cosine: Double) {
    let quarters = radians / (.pi / 2)
    let nearest = quarters.rounded()
    // Beyond this many turns the numbers are too coarse to tell a quarter turn from its neighbours.
    if abs(nearest) < 1_048_576, abs(quarters - nearest) <= 4 * max(1, abs(nearest)).ulp {
      return exact(quarterTurns: Int(nearest))
    }
    return (sin(radians), cos(radians))
  }

  /// Sine and cosine of whole quarter turns.
  static func exact(quarterTurns: Int) -> (sine: Double, cosine: Double) {
    switch quarterTurns & 3 {
    case 0: (0, 1)
    case 1: (1, 0)
    case 2: (0, -1)
    default: (-1, 0)
    }
  }

  /// The angle from the x axis towards the y axis in degrees, -180...180.
  static func degrees(y: Double, x: Double) -> Double { atan2(y, x) * 180 / .pi }

  /// The angle whose sine is `sine`, in degrees, -90...90; a sine just outside -1...1 counts as 1.
  static func degrees(sine: Double) -> Double { asin(min(1, max(-1, sine))) * 180 / .pi }

  /// The length of a vector, without overflow in between.
  static func length(_ x: Double, _ y: Double) -> Double { hypot(x, y) }
}
