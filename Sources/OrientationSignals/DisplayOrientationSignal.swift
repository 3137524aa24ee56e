public import Orientation

/// What an SEI message asks for where it stands.
public struct DisplayOrientationSignal: Sendable, Hashable {
  /// The values as sent.
  public let values: SEIDisplayOrientation

  /// The signal of these values.
  public init(_ values: SEIDisplayOrientation) { self.values = values }

  /// What stands the picture up; the nearest quarter turn where the angle is none.
  public var orientation: ImageOrientation { values.turn.nearest }

  /// Whether `orientation` says all: the angle was a multiple of 90 degrees.
  public var isExact: Bool { values.turn.isExact }
}
