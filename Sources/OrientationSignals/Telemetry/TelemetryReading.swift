/// A reading of a camera's motion sensors.
package struct TelemetryReading: Sendable, Hashable {
  /// What was read.
  package enum Kind: String, Sendable, CaseIterable {
    /// The direction of gravity, as the camera has derived it. No unit.
    case gravity
    /// The orientation of the camera since the start, a quaternion: w, x, y, z.
    case cameraOrientation
    /// The orientation of the image in the camera, by which the camera's stabilisation has turned it: w, x, y, z.
    case imageOrientation
    /// The acceleration, in m/s². It is opposite to gravity at rest.
    case acceleration
    /// The rate of turn, in radians a second.
    case rotationRate
    /// The orientation as an axis whose length is the angle, in radians.
    case angleAxis
  }

  package let kind: Kind
  /// Three numbers, or four of a quaternion, in the order in which they are stored. All are finite.
  package let values: [Double]

  init?(_ kind: Kind, _ values: [Double]) {
    guard values.count == kind.count, values.allSatisfy(\.isFinite) else { return nil }
    (self.kind, self.values) = (kind, values)
  }
}

extension TelemetryReading.Kind {
  /// The number of values of a reading.
  var count: Int { self == .cameraOrientation || self == .imageOrientation ? 4 : 3 }
}
