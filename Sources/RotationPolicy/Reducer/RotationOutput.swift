public import UprightOrientation

/// An output of a reducer. Outputs are ordered.
public enum RotationOutput: Sendable, Hashable {
  /// The device orientation changed. Includes the flat orientations.
  case device(at: Double, DeviceOrientation)
  /// A decision on an event.
  case decision(RotationDecision)
  /// A phase of a rotation.
  case phase(RotationPhase)
  /// The stream format changes to that of this app orientation, at the `didRotate` of a rotation.
  case layout(at: Double, InterfaceOrientation)
  /// The focus moves to a point of the upright frame.
  case focus(at: Double, UprightOrientation.Point)
  /// Whether camera frames are sent from now on. Emitted only when it changes.
  case captureEnabled(at: Double, Bool)
}
