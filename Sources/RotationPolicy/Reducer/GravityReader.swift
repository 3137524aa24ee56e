internal import Orientation

/// Turns gravity readings into changes of the device's orientation; spec 2, "`gravity`".
struct GravityReader: Sendable {
  private var classified: DeviceOrientation

  init(initial: DeviceOrientation) { classified = initial }

  /// The new orientation where the classified one changes, nil where it stays: one reading settles
  /// nothing by itself, and a rejected one says nothing.
  mutating func read(
    x: Double, y: Double, z: Double, at event: RotationEvent
  ) throws(PolicyError) -> DeviceOrientation? {
    guard x.isFinite, y.isFinite, z.isFinite else {
      throw PolicyError(
        .value, "gravity is not a number", at: event.place, remedy: "write three finite numbers")
    }
    let next: DeviceOrientation =
      abs(z) > 0.9
      ? (z < 0 ? .faceUp : .faceDown)
      : abs(x) > abs(y)
        ? (x < 0 ? .landscapeLeft : .landscapeRight) : (y < 0 ? .portrait : .portraitUpsideDown)
    guard next != classified else { return nil }
    classified = next
    return next
  }
}
