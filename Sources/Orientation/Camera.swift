/// A phone's camera: the rotation that its raw frames need for each device orientation.
///
/// The rule is Android's (`SENSOR_ORIENTATION`) and agrees with an iPhone's cameras: with d the
/// device's clockwise rotation from portrait, a back camera needs `sensorOrientation + d` degrees
/// clockwise and a front camera `sensorOrientation - d`.
public struct Camera: Sendable, Hashable {
  /// The side of the phone that the camera is on.
  public enum Position: String, CaseIterable, Sendable, Hashable {
    /// Faces away from the user.
    case back
    /// Faces the user.
    case front
  }

  /// The side that the camera is on.
  public var position: Position
  /// The clockwise rotation in degrees that the frames need in portrait; 90 on nearly every phone.
  public var sensorOrientation: Int
  /// Whether the upright frame is mirrored left-right after the rotation, like a front camera's
  /// preview.
  public var mirrors: Bool

  /// Creates a camera. `sensorOrientation` is in degrees clockwise.
  public init(
    position: Position = .back, sensorOrientation: Int = 90, mirrors: Bool = false
  ) {
    self.position = position
    self.sensorOrientation = sensorOrientation
    self.mirrors = mirrors
  }

  /// Returns the clockwise rotation in degrees, 0 ..< 360, that a raw frame needs at this device
  /// orientation, or `nil` if the device is flat or its orientation is unknown.
  public func clockwiseDegrees(for device: DeviceOrientation) -> Int? {
    guard let rotation = device.clockwiseDegrees else { return nil }
    let sensor = sensorOrientation % 360
    let degrees = position == .back ? sensor + rotation : sensor - rotation
    return (degrees % 360 + 360) % 360
  }

  /// Returns the orientation that makes a raw frame upright at this device orientation. Returns
  /// `nil` if the device is flat or its orientation is unknown, or if `sensorOrientation` is not a
  /// multiple of 90.
  public func turn(for device: DeviceOrientation) -> ImageOrientation? {
    guard
      let degrees = clockwiseDegrees(for: device),
      let turn = ImageOrientation(flippedHorizontally: false, clockwiseDegrees: degrees)
    else { return nil }
    return mirrors ? turn.then(.upMirrored) : turn
  }
}
