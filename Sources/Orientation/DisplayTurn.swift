/// A flip and a rotation by any angle: flip left-right if `isMirrored`, *then* rotate clockwise.
///
/// The common form of the display matrix, SEI, CVO, projection roll and rotate tag. A multiple of
/// 90 degrees is an `ImageOrientation`; other angles are only near one.
public struct DisplayTurn: Sendable, Hashable {
  /// Whether the frame is flipped left-right before the rotation.
  public let isMirrored: Bool
  /// The clockwise rotation after the flip, in degrees, 0 ..< 360.
  public let clockwiseDegrees: Double

  /// Creates a rotation by any finite angle, reduced to 0 ..< 360. Returns `nil` for NaN and
  /// infinity.
  public init?(isMirrored: Bool = false, clockwiseDegrees: Double) {
    guard clockwiseDegrees.isFinite else { return nil }
    // The remainder is exact. Only adding 360 to a tiny negative number rounds, to 360 itself.
    var degrees = clockwiseDegrees.truncatingRemainder(dividingBy: 360)
    if degrees < 0 { degrees += 360 }
    self.init(isMirrored: isMirrored, normalised: degrees < 360 ? degrees + 0 : 0)
  }

  init(isMirrored: Bool, normalised degrees: Double) {
    self.isMirrored = isMirrored
    clockwiseDegrees = degrees
  }

  /// Creates the flip and rotation of `orientation`.
  public init(_ orientation: ImageOrientation) {
    self.init(
      isMirrored: orientation.isMirrored, normalised: Double(orientation.clockwiseDegrees))
  }

  /// The orientation that matches exactly, or `nil` if the angle is not a multiple of 90.
  public var orientation: ImageOrientation? { isExact ? nearest : nil }

  /// The orientation at the nearest multiple of 90. Halfway rounds to the larger angle.
  public var nearest: ImageOrientation {
    ImageOrientation(
      flippedHorizontally: isMirrored,
      quarterTurns: Int(clamping: ((clockwiseDegrees + 45) / 90).rounded(.down)))
  }

  /// The clockwise rotation that remains after `nearest`, in degrees, -45...45.
  package var degreesBeyondNearest: Double {
    clockwiseDegrees - ((clockwiseDegrees + 45) / 90).rounded(.down) * 90
  }

  /// Whether `nearest` is exact.
  public var isExact: Bool { clockwiseDegrees.truncatingRemainder(dividingBy: 90) == 0 }
}
