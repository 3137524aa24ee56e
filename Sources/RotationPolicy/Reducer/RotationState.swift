public import UprightOrientation

/// The state of a `RotationReducer` after its last event.
public struct RotationState: Sendable, Hashable {
  /// The device orientation, including the flat ones.
  public internal(set) var device: DeviceOrientation
  /// The last of the four upright device orientations, or `nil` if the device was never held upright.
  public internal(set) var lastUprightDevice: DeviceOrientation?
  /// The app orientation. Changes at the decision of a rotation.
  public internal(set) var appOrientation: InterfaceOrientation
  /// The app orientation of the frame layout. Changes at the `didRotate` of a rotation.
  public internal(set) var layoutOrientation: InterfaceOrientation
  /// Whether the system rotation lock is on.
  public internal(set) var rotationLock: Bool
  /// Whether the application is active.
  public internal(set) var active: Bool
  /// Whether the deciding controller sends camera frames (`captureEnabledIn`).
  public internal(set) var captureEnabled = true
  /// The holds that prevent automatic rotation until the device moves to another upright orientation.
  public internal(set) var hold = Hold()
  /// The presentations, from bottom to top.
  public internal(set) var presentations: [Presentation] = []
  /// The rotation in progress, or `nil` if there is none. Its `ends` is the time of `didRotate`.
  public internal(set) var turn: RotationTurn?

  /// The holds that prevent automatic rotation.
  public struct Hold: Sendable, Hashable, Codable {
    /// Whether a manual rotation holds.
    public internal(set) var isManual = false
    /// The number of presentations that hold because they were shown in their explicit `preferred`.
    public internal(set) var presentations = 0

    /// Whether there is a hold.
    public var isOn: Bool { isManual || presentations > 0 }
  }

  /// A presented controller.
  public struct Presentation: Sendable, Hashable {
    /// The name of the presented controller.
    public let controller: String
    /// The requested style.
    public let style: RotationEvent.PresentationStyle
    /// Whether the controller covers the screen and therefore decides. Always `true` on a phone.
    public let isFullScreen: Bool
    let index: Int
    var holds = false
  }

  /// Ends all holds.
  mutating func release() {
    guard hold.isOn else { return }
    hold = Hold()
    for index in presentations.indices { presentations[index].holds = false }
  }

  /// The presentation that decides, or `nil` if the root does.
  var decidingPresentation: Presentation? { presentations.last { $0.isFullScreen } }

  /// Starts a hold of the deciding presentation, which was shown in its explicit `preferred`.
  mutating func holdDeciding() {
    guard let index = presentations.lastIndex(where: \.isFullScreen), !presentations[index].holds
    else { return }
    presentations[index].holds = true
    hold.presentations += 1
  }

  mutating func removeTopmost() {
    guard let last = presentations.popLast(), last.holds else { return }
    hold.presentations -= 1
  }
}
