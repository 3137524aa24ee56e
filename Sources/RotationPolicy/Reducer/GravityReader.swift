internal import UprightOrientation

/// Converts gravity readings to changes of the device orientation.
struct GravityReader: Sendable {
  private var classifier: GravityClassifier
  /// The time of the last reading; `nil` before the first.
  private var lastReading: Double?

  /// A sensor is active for this time after a reading, in seconds.
  private static let pause = 1.0

  /// Creates a reader that starts at the device orientation of the policy. A single reading doesn't change
  /// it.
  init(_ configuration: GravityClassifier.Configuration, initial: DeviceOrientation) {
    classifier = GravityClassifier(configuration: configuration, orientation: initial)
  }

  /// Returns the new device orientation, or `nil` if it doesn't change, because the readings have not settled
  /// or this one was rejected.
  ///
  /// - Throws: `value` if the reading is not three finite numbers.
  mutating func read(
    x: Double, y: Double, z: Double, at event: RotationEvent
  ) throws(PolicyError) -> DeviceOrientation? {
    let before = classifier.orientation
    do throws(GravityError) {
      let after = try classifier.classify(Gravity(x: x, y: y, z: z).inG, at: event.at)
      lastReading = event.at
      return after == before ? nil : after
    } catch {
      throw PolicyError(
        .value, "\(error)", at: event.place, remedy: "write three finite numbers in g")
    }
  }

  /// Takes the device orientation of another source, unless a sensor is active. Otherwise a sensor that starts
  /// later, and says the orientation of the last reading, would change nothing. An active one changes it when
  /// the device is turned.
  mutating func record(_ orientation: DeviceOrientation, at seconds: Double) {
    if let lastReading, seconds - lastReading <= Self.pause { return }
    guard orientation != classifier.orientation else { return }
    classifier = GravityClassifier(
      configuration: classifier.configuration, orientation: orientation)
  }
}
