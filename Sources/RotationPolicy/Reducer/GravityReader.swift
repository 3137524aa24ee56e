internal import Orientation

/// Turns gravity readings into changes of the device's orientation; spec 2, "`gravity`".
struct GravityReader: Sendable {
  private var classifier: GravityClassifier

  /// Starts at the orientation the policy's device has: one reading alone does not move it.
  init(_ configuration: GravityClassifier.Configuration, initial: DeviceOrientation) {
    classifier = GravityClassifier(configuration: configuration, orientation: initial)
  }

  /// The new orientation where the classified one changes; nil where it stays, because nothing has
  /// settled or the reading was rejected.
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
