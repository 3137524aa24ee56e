package import UprightOrientation

/// The orientation that an SEI message sets for the frames it applies to.
package struct DisplayOrientationSignal: Sendable, Hashable {
  /// The values as transmitted.
  package let values: SEIDisplayOrientation

  /// Creates the signal for `values`.
  package init(_ values: SEIDisplayOrientation) { self.values = values }

  /// The orientation that makes the frame upright, rounded to the nearest quarter turn.
  package var orientation: ImageOrientation { values.turn.nearest }

  /// Whether `orientation` is exact, that is, the angle is a multiple of 90 degrees.
  package var isExact: Bool { values.turn.isExact }
}
