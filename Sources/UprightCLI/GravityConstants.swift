internal import ArgumentParser
internal import Orientation

/// Whose published constants `gravity` events are read by (`--gravity`).
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
