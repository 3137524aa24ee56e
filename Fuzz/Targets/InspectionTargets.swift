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

  /// A sample of telemetry: GPMF, or CAMM.
  static let telemetry = FuzzTarget("telemetry") { bytes in
    let readings =
      GPMFSample(bytes).streams.flatMap(\.readings).compactMap(\.self)
      + (CAMMSample.reading(bytes).map { [$0] } ?? [])
    try expect(readings.count <= (1 << 16) + 1, "\(readings.count) readings")
    try expect(readings.allSatisfy { $0.values.allSatisfy(\.isFinite) }, "a value isn't finite")
    try expect(readings.allSatisfy { $0.values.count == $0.kind.count }, "values are missing")
  }
}
#endif
