#if DEBUG
import UprightOrientation

@testable import UprightSignals

extension FuzzTarget {
  /// A movie or a still image that `check` inspects.
  static let inspection = FuzzTarget("inspection") { bytes in
    if let movie = try? MovieInspection(bytes) {
      try expect(movie.sampleAspectRatio.doubleValue > 0, "pixels without a shape")
    }
    for format in [PatchedFormat.jpeg, .heif, .png, .webp] {
      _ = try? ImageInspection(bytes, format)
    }
  }
}
#endif
