internal import ArgumentParser
internal import Orientation

/// The published constants that classify `gravity` events (`--gravity`).
enum GravityConstants: String, ExpressibleByArgument, CaseIterable {
  /// Android's WindowOrientationListener: filtered, with hysteresis and waiting.
  case android
  /// iio-sensor-proxy: thresholds on two axes.
  case iio

  var configuration: GravityClassifier.Configuration {
    switch self {
    case .android: .android
    case .iio: .iioSensorProxy
    }
  }
}
