/// Matroska's `ProjectionPoseRoll`: degrees, counter-clockwise positive, -180...180 (RFC 9559).
/// Media3 reads it as clockwise; the specification decides.
public struct ProjectionRoll: Sendable, Hashable {
  /// Degrees counter-clockwise.
  public var degrees: Double

  /// The roll of so many degrees counter-clockwise; not judged here.
  public init(degrees: Double) { self.degrees = degrees }

  /// The roll that means `orientation`; nil for the mirrored four, which a roll cannot say.
  public init?(_ orientation: ImageOrientation) {
    switch orientation {
    case .up: degrees = 0
    case .right: degrees = -90
    case .down: degrees = 180
    case .left: degrees = 90
    case .upMirrored, .downMirrored, .leftMirrored, .rightMirrored: return nil
    }
  }

  /// The turn it asks for; nil where the roll is not a finite number.
  public var turn: DisplayTurn? { DisplayTurn(clockwiseDegrees: -degrees) }

  /// The orientation the roll means exactly, or nil where it turns by another angle; then see
  /// `turn?.nearest`.
  public var orientation: ImageOrientation? { turn?.orientation }
}
