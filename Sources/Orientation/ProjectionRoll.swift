/// Matroska's `ProjectionPoseRoll`: degrees, counter-clockwise positive, -180...180 (RFC 9559).
/// Media3 reads it as clockwise; this type follows the specification.
public struct ProjectionRoll: Sendable, Hashable {
  /// Degrees counter-clockwise.
  public var degrees: Double

  /// Creates a roll in degrees counter-clockwise, without validation.
  public init(degrees: Double) { self.degrees = degrees }

  /// Creates the roll for `orientation`. Returns `nil` for the four mirrored orientations, which a
  /// roll can't represent.
  public init?(_ orientation: ImageOrientation) {
    switch orientation {
    case .up: degrees = 0
    case .right: degrees = -90
    case .down: degrees = 180
    case .left: degrees = 90
    case .upMirrored, .downMirrored, .leftMirrored, .rightMirrored: return nil
    }
  }

  /// The rotation to apply for display, or `nil` if the roll is not finite.
  public var turn: DisplayTurn? { DisplayTurn(clockwiseDegrees: -degrees) }

  /// The orientation that matches the roll exactly, or `nil` for an angle that is not a multiple of
  /// 90 degrees. `turn?.nearest` rounds such an angle.
  public var orientation: ImageOrientation? { turn?.orientation }
}
