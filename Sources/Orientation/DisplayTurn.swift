/// What a signal asks for, at any angle: flip left-right if `isMirrored`, *then* turn clockwise.
///
/// The common form behind the display matrix, SEI, CVO, projection roll and rotate tag; quarter
/// turns are `ImageOrientation`s, other angles are only near one.
public struct DisplayTurn: Sendable, Hashable {
  /// Whether the picture is flipped left-right before it is turned.
  public let isMirrored: Bool
  /// The clockwise turn after the flip, in degrees, 0 ..< 360.
  public let clockwiseDegrees: Double

  /// A turn by any finite angle, brought into 0 ..< 360; nil for NaN and infinity.
  public init?(isMirrored: Bool = false, clockwiseDegrees: Double) {
    guard clockwiseDegrees.isFinite else { return nil }
    // The remainder is exact; only adding 360 to a tiny negative rounds, to 360 itself.
    var degrees = clockwiseDegrees.truncatingRemainder(dividingBy: 360)
    if degrees < 0 { degrees += 360 }
    self.init(isMirrored: isMirrored, normalised: degrees < 360 ? degrees + 0 : 0)
  }

  init(isMirrored: Bool, normalised degrees: Double) {
    self.isMirrored = isMirrored
    clockwiseDegrees = degrees
  }

  /// The turn of one of the eight.
  public init(_ orientation: ImageOrientation) {
    self.init(
      isMirrored: orientation.isMirrored, normalised: Double(orientation.clockwiseDegrees))
  }

  /// The orientation this is exactly, or nil where the angle is not a multiple of 90.
  public var orientation: ImageOrientation? { isExact ? nearest : nil }

  /// The orientation at the nearest multiple of 90; halfway goes to the larger angle.
  public var nearest: ImageOrientation {
    ImageOrientation(
      flippedHorizontally: isMirrored,
      quarterTurns: Int(clamping: ((clockwiseDegrees + 45) / 90).rounded(.down)))
  }

  /// What is left to turn clockwise after `nearest`, in degrees, -45...45.
  public var degreesBeyondNearest: Double {
    clockwiseDegrees - ((clockwiseDegrees + 45) / 90).rounded(.down) * 90
  }

  /// Whether `nearest` says all there is to say.
  public var isExact: Bool { clockwiseDegrees.truncatingRemainder(dividingBy: 90) == 0 }
}
