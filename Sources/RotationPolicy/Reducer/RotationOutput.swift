public import Orientation

/// What a reducer tells its observers, in order.
public enum RotationOutput: Sendable, Hashable {
  /// The device is held in another way; flat included.
  case device(at: Double, DeviceOrientation)
  /// An event was answered.
  case decision(RotationDecision)
  /// A phase of a turn.
  case phase(RotationPhase)
  /// The stream's format is that of this app orientation from now on: a turn's `didRotate`.
  case layout(at: Double, InterfaceOrientation)
  /// The camera is sent, or is not, from now on; only when it changes.
  case captureEnabled(at: Double, Bool)
}
