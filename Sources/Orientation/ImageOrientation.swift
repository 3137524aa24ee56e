/// The orientation of a stored image, as the operation that makes it upright: the eight elements of
/// the square's dihedral group. Raw values are EXIF's (`CGImagePropertyOrientation`).
public enum ImageOrientation: Int, CaseIterable, Sendable, Hashable, Codable {
  /// No change: the identity.
  case up = 1
  /// Mirror left-right.
  case upMirrored = 2
  /// Rotate 180 degrees.
  case down = 3
  /// Mirror top-bottom.
  case downMirrored = 4
  /// Transpose (mirror over the main diagonal).
  case leftMirrored = 5
  /// Rotate 90 degrees clockwise.
  case right = 6
  /// Transverse (mirror over the other diagonal).
  case rightMirrored = 7
  /// Rotate 90 degrees counter-clockwise.
  case left = 8
}
