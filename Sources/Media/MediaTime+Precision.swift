package import UprightOrientation

extension MediaTime {
  /// The timestamp resolution of FLV and Matroska: how early a time from such a container may be.
  package static let millisecond = MediaTime(1, Rational(1, 1000))
}
