public import Orientation

/// The orientation that an SEI message sets for the frames it applies to.
public struct DisplayOrientationSignal: Sendable, Hashable {
  /// The values as transmitted.
  public let values: SEIDisplayOrientation

  /// Creates the signal for `values`.
  public init(_ values: SEIDisplayOrientation) { self.values = values }

  /// The orientation that makes the frame upright, rounded to the nearest quarter turn.
  public var orientation: ImageOrientation { values.turn.nearest }

  /// Whether `orientation` is exact, that is, the angle is a multiple of 90 degrees.
  public var isExact: Bool { values.turn.isExact }
}
