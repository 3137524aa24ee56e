/// How a stored picture lies, as what must be done to it so that it stands upright: the eight
/// elements of the square's dihedral group. Raw values are EXIF's (`CGImagePropertyOrientation`).
public enum ImageOrientation: Int, CaseIterable, Sendable, Hashable {
  /// Nothing to do: the identity.
  case up = 1
  /// Mirror left-right.
  case upMirrored = 2
  /// Turn by 180 degrees.
  case down = 3
  /// Mirror top-bottom.
  case downMirrored = 4
  /// Transpose (mirror over the main diagonal).
  case leftMirrored = 5
  /// Turn 90 degrees clockwise.
  case right = 6
  /// Transverse (mirror over the other diagonal).
  case rightMirrored = 7
  /// Turn 90 degrees counter-clockwise.
  case left = 8
}
