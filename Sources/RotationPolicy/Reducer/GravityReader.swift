internal import Orientation

/// Converts gravity readings to changes of the device orientation.
struct GravityReader: Sendable {
  private var classifier: GravityClassifier

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
      let after = try classifier.classify(Gravity(x: x, y: y, z: z), at: event.at)
      return after == before ? nil : after
    } catch {
      throw PolicyError(
        .value, "\(error)", at: event.place, remedy: "write three finite numbers in g")
    }
  }
}
