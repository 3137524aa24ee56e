/// A phone's camera: how its raw frames must be turned for every way the device is held.
///
/// The rule is Android's (`SENSOR_ORIENTATION`) and agrees with an iPhone's cameras: with d the
/// device's clockwise rotation from portrait, a back camera needs `sensorOrientation + d` degrees
/// clockwise and a front camera `sensorOrientation - d`.
public struct Camera: Sendable, Hashable {
  /// The side of the phone that the camera looks from.
  public enum Position: String, CaseIterable, Sendable, Hashable {
    /// Looks away from the person who holds the phone.
    case back
    /// Looks at that person.
    case front
  }

  /// The side that the camera is on.
  public var position: Position
  /// The clockwise turn in degrees that the frames need in portrait; 90 on nearly every phone.
  public var sensorOrientation: Int
  /// Whether the upright picture is mirrored left-right after turning, as a front camera's preview is.
  public var mirrors: Bool

  /// The sensor orientation of nearly every phone, in degrees.
  public static let usualSensorOrientation = 90

  /// A camera; `sensorOrientation` is in degrees clockwise.
  public init(
    position: Position = .back, sensorOrientation: Int = Self.usualSensorOrientation,
    mirrors: Bool = false
  ) {
    self.position = position
    self.sensorOrientation = sensorOrientation
    self.mirrors = mirrors
  }

  /// The clockwise turn in degrees, 0 ..< 360, that a raw frame needs while the device is held so;
  /// nil where the device is flat or unknown.
  public func clockwiseDegrees(for device: DeviceOrientation) -> Int? {
    guard let rotation = device.clockwiseDegrees else { return nil }
    let sensor = sensorOrientation % 360
    let degrees = position == .back ? sensor + rotation : sensor - rotation
    return (degrees % 360 + 360) % 360
  }

  /// What stands a raw frame upright while the device is held so; nil where the device is flat or
  /// unknown, or where `sensorOrientation` is not a multiple of 90.
  public func turn(for device: DeviceOrientation) -> ImageOrientation? {
    guard
      let degrees = clockwiseDegrees(for: device),
      let turn = ImageOrientation(flippedHorizontally: false, clockwiseDegrees: degrees)
    else { return nil }
    return mirrors ? turn.then(.upMirrored) : turn
  }
}
