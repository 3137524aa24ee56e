/// The legacy `rotate` metadata tag: degrees clockwise, any whole number.
public struct RotateTag: Sendable, Hashable {
  /// Degrees clockwise as written, 450 and -90 too.
  public var degrees: Int

  /// The tag of so many degrees clockwise; reading the number out of a text is the caller's.
  public init(degrees: Int) { self.degrees = degrees }

  /// The tag that means `orientation` (0, 90, 180, 270); nil for the mirrored four, which a tag
  /// cannot say.
  public init?(_ orientation: ImageOrientation) {
    guard !orientation.isMirrored else { return nil }
    degrees = orientation.clockwiseDegrees
  }

  /// The turn it asks for.
  public var turn: DisplayTurn {
    let remainder = degrees % 360
    return DisplayTurn(
      isMirrored: false, normalised: Double(remainder < 0 ? remainder + 360 : remainder))
  }

  /// The orientation the tag means exactly, or nil where it turns by another angle; then see
  /// `turn.nearest`.
  public var orientation: ImageOrientation? { turn.orientation }
}
