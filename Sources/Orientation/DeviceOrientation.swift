/// The physical orientation of the device. Raw values are `UIDeviceOrientation`'s.
public enum DeviceOrientation: Int, CaseIterable, Sendable, Hashable, Codable {
  /// Not known yet.
  case unknown = 0
  /// Upright, home button at the bottom.
  case portrait = 1
  /// Upright, home button at the top.
  case portraitUpsideDown = 2
  /// Home button on the right.
  case landscapeLeft = 3
  /// Home button on the left.
  case landscapeRight = 4
  /// Flat, the screen facing up.
  case faceUp = 5
  /// Flat, the screen facing down.
  case faceDown = 6
}

extension DeviceOrientation {
  /// The interface orientation that is upright at this device orientation, or `nil` if the device
  /// orientation doesn't determine one (`unknown`, `faceUp`, `faceDown`).
  ///
  /// Left and right are swapped: `UIInterfaceOrientationLandscapeLeft` is defined as
  /// `UIDeviceOrientationLandscapeRight`, so the raw values are equal and the names are not.
  public var interface: InterfaceOrientation? {
    switch self {
    case .portrait: .portrait
    case .portraitUpsideDown: .portraitUpsideDown
    case .landscapeLeft: .landscapeRight
    case .landscapeRight: .landscapeLeft
    case .unknown, .faceUp, .faceDown: nil
    }
  }

  /// The device's clockwise rotation from portrait in degrees (0, 90, 180, 270), or `nil` if it is
  /// flat or unknown.
  public var clockwiseDegrees: Int? {
    switch self {
    case .portrait: 0
    case .landscapeRight: 90
    case .portraitUpsideDown: 180
    case .landscapeLeft: 270
    case .unknown, .faceUp, .faceDown: nil
    }
  }
}
