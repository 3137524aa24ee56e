/// The legacy `rotate` metadata tag: degrees clockwise, any integer.
public struct RotateTag: Sendable, Hashable {
  /// Degrees clockwise as written, including values such as 450 and -90.
  public var degrees: Int

  /// Creates a tag in degrees clockwise. The caller parses the number from text.
  public init(degrees: Int) { self.degrees = degrees }

  /// Creates the tag for `orientation` (0, 90, 180, 270). Returns `nil` for the four mirrored
  /// orientations, which a tag can't represent.
  public init?(_ orientation: ImageOrientation) {
    guard !orientation.isMirrored else { return nil }
    degrees = orientation.clockwiseDegrees
  }

  /// The rotation to apply for display.
  public var turn: DisplayTurn {
    let remainder = degrees % 360
    return DisplayTurn(
      isMirrored: false, normalised: Double(remainder < 0 ? remainder + 360 : remainder))
  }

  /// The orientation that matches the tag exactly, or `nil` for an angle that is not a multiple of
  /// 90 degrees. `turn.nearest` rounds such an angle.
  public var orientation: ImageOrientation? { turn.orientation }
}
