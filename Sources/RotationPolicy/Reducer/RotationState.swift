public import Orientation

/// What a `RotationReducer` knows after its last event.
public struct RotationState: Sendable, Hashable {
  /// How the device is held, flat included.
  public internal(set) var device: DeviceOrientation
  /// The last of the four upright orientations; nil while the device was never held upright.
  public internal(set) var lastUprightDevice: DeviceOrientation?
  /// The app orientation; new from a turn's decision on.
  public internal(set) var appOrientation: InterfaceOrientation
  /// The app orientation that the picture is laid out for; new at a turn's `didRotate`.
  public internal(set) var layoutOrientation: InterfaceOrientation
  /// Whether the system's rotation lock is on.
  public internal(set) var rotationLock: Bool
  /// Whether the application is active.
  public internal(set) var active: Bool
  /// Whether the deciding controller sends the camera; `captureEnabledIn`.
  public internal(set) var captureEnabled = true
  /// What keeps automatic turns away until the device moves.
  public internal(set) var hold = Hold()
  /// The presentations, lowest first.
  public internal(set) var presentations: [Presentation] = []
  /// The turn in flight; its `ends` is when `didRotate` comes.
  public internal(set) var turn: RotationTurn?

  /// What keeps automatic turns away.
  public struct Hold: Sendable, Hashable {
    /// A manual turn holds.
    public internal(set) var isManual = false
    /// How many presentations hold that were shown in their explicit `preferred`.
    public internal(set) var presentations = 0

    /// Whether anything holds.
    public var isOn: Bool { isManual || presentations > 0 }
  }

  /// One presented controller.
  public struct Presentation: Sendable, Hashable {
    /// The presented controller's name.
    public let controller: String
    /// The style that was asked for.
    public let style: RotationEvent.PresentationStyle
    /// Whether it covers the screen and so decides: always on a phone.
    public let isFullScreen: Bool
    let index: Int
    var holds = false
  }

  /// Ends every hold.
  mutating func release() {
    guard hold.isOn else { return }
    hold = Hold()
    for index in presentations.indices { presentations[index].holds = false }
  }

  /// The presentation that decides; nil where the root does.
  var decidingPresentation: Presentation? { presentations.last { $0.isFullScreen } }

  /// The deciding presentation was shown in its explicit `preferred`.
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
