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
  /// The axes of the camera that the values of an acceleration belong to, in their order: three of the letters X (to the left
  /// of the image), Y (towards the photographer) and Z (to its top), in lower case where the value has the other sign.
  private let axes: String

  init?(_ kind: Kind, _ values: [Double], axes: String = "XZY") {
    guard values.count == kind.count, values.allSatisfy(\.isFinite) else { return nil }
    (self.kind, self.values, self.axes) = (kind, values, axes)
  }

  /// Gravity in the camera, of any length: to the left of the image, to its bottom, and away from the photographer. `nil` of
  /// other readings, and of those without a direction.
  package var gravity: SIMD3<Double>? {
    let found: SIMD3<Double>
    switch kind {
    // GoPro has X, -Z, -Y (github.com/gopro/gpmf-parser/issues/170).
    case .gravity: found = SIMD3(values[0], values[1], values[2])
    case .acceleration:
      func along(_ axis: Character) -> Double? {
        for (value, letter) in zip(values, axes) {
          if letter == axis { return value }
          if letter.uppercased() == String(axis) { return -value }
        }
        return nil
      }
      guard let x = along("X"), let y = along("Y"), let z = along("Z") else { return nil }
      found = SIMD3(-x, z, y)
    default: return nil
    }
    return found == .zero ? nil : found
  }

  /// Returns `gravity` of the camera in the image, which the stabilisation of the camera has turned. `self` is an image
  /// orientation, in the order of axes of gravity.
  package func turned(_ gravity: SIMD3<Double>) -> SIMD3<Double> {
    guard kind == .imageOrientation else { return gravity }
    let (w, v) = (values[0], SIMD3(values[1], values[2], values[3]))
    let length = w * w + (v * v).sum()
    guard length > 0 else { return gravity }
    func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
      SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
    let twice = 2 / length * cross(v, gravity)
    return gravity + w * twice + cross(v, twice)
  }
}

extension TelemetryReading.Kind {
  /// The number of values of a reading.
  var count: Int { self == .cameraOrientation || self == .imageOrientation ? 4 : 3 }
}
