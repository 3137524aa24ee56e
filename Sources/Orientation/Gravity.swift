/// A reading of the direction of gravity in units of g. Device axes: x to the right of the screen,
/// y to its top, z out of it. The vector points down: a phone at rest in portrait reads (0, -1, 0),
/// in landscapeLeft (-1, 0, 0) and face up (0, 0, -1).
///
/// This is CoreMotion's convention. Android's accelerometer reports the opposite vector, in m/s².
public struct Gravity: Sendable, Hashable {
  /// Along the screen's right, in g.
  public var x: Double
  /// Along the screen's top, in g.
  public var y: Double
  /// Out of the screen, in g.
  public var z: Double

  /// Creates the reading (`x`, `y`, `z`) in g.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// The length in g: 1 at rest, infinite if the numbers are too large to square.
  public var magnitude: Double { Trigonometry.length(Trigonometry.length(x, y), z) }

  /// The reading in g. A length of 5 to 15 is taken for m/s²: no device that is held reads that in g.
  package var inG: Gravity {
    guard (5...15).contains(magnitude) else { return self }
    return Gravity(x: x / 9.80665, y: y / 9.80665, z: z / 9.80665)
  }

  /// The elevation of the screen's direction, in degrees: 90 face up, 0 upright, -90 face down. 0
  /// for a zero vector.
  var tiltDegrees: Double {
    let length = magnitude
    return length > 0 ? Trigonometry.degrees(sine: -z / length) : 0
  }

  /// The device's *counter-clockwise* rotation from portrait in the plane of its screen, in
  /// degrees, -180...180 (landscapeLeft is 90). Meaningless if the device is flat.
  var counterClockwiseDegrees: Double { Trigonometry.degrees(y: -x, x: -y) }

  /// Whether all three numbers are finite.
  var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}

/// An invalid gravity reading.
public enum GravityError: Error, Hashable, CustomStringConvertible {
  /// A component is NaN or infinite.
  case readingNotFinite(Gravity)
  /// The time is NaN or infinite.
  case timeNotFinite(Double)

  /// The invalid value and the expected one.
  public var description: String {
    switch self {
    case .readingNotFinite(let reading):
      "gravity [\(reading.x), \(reading.y), \(reading.z)] is not a direction: "
        + "three finite numbers in g are expected"
    case .timeNotFinite(let seconds):
      "\(seconds) is not the time of a gravity reading: finite seconds are expected"
    }
  }
}
