public import UprightOrientation

/// A change of the device or the app, at a time on the media timeline.
public struct RotationEvent: Sendable, Codable {
  /// The time on the media timeline, in seconds. The event takes effect at the first frame whose PTS is
  /// >= `at` - 1 ms.
  public var at: Double
  /// The kind of event and its parameters.
  public var action: Action
  /// The 1-based line number in the event file, for error messages. Not compared or hashed.
  public var line: Int?

  /// The maximum time, in seconds (31 years).
  public static let latest = 1e9

  /// Creates an event.
  public init(at: Double, _ action: Action) {
    self.at = at
    self.action = action
  }

  /// The kind of event and its parameters.
  public enum Action: Sendable, Hashable, Codable {
    /// The device orientation changed.
    case device(DeviceOrientation)
    /// A raw gravity reading in g: x right, y up, z out of the screen.
    case gravity(x: Double, y: Double, z: Double)
    /// The app requests an orientation. The device orientation doesn't change.
    case rotate(InterfaceOrientation)
    /// The point of the upright frame that a canvas shows that crops it: x from left to right and y from top to
    /// bottom, 0...1. The crop moves there. No orientation changes.
    case focus(x: Double, y: Double)
    /// The system rotation lock was switched on or off.
    case lock(Bool)
    /// The app became active (`true`) or resigned active (`false`).
    case active(Bool)
    /// A controller is presented. A `style` of `nil` means full screen.
    case present(String, style: PresentationStyle?)
    /// The topmost presentation is removed.
    case dismiss
    /// A controller is pushed onto a navigation controller.
    case push(String, onto: String)
    /// The top controller of a navigation controller is removed.
    case pop(String)
    /// A child of a tab controller is selected.
    case select(String, in: String)
    /// A controller's answers change.
    indirect case set(String, ControllerAnswers)
    /// The application delegate's mask changes. An empty mask means no answer.
    indirect case setApplication(delegate: OrientationList)
    /// Another policy replaces the current one. The orientations, the rotation lock, whether the app is active
    /// and the hold of a manual rotation continue. Presentations end, and the new policy's root is shown. The
    /// initial orientation, lock and activity in the document have no effect. Event files can't contain this
    /// event.
    indirect case policy(PolicyDocument)
  }

  /// The presentation style of a controller.
  public enum PresentationStyle: String, CaseIterable, Sendable, Hashable, Codable {
    /// The controller covers the screen and decides on rotation.
    case fullScreen
    /// On a pad, the controller doesn't decide on rotation.
    case popover
    /// On a pad, the controller doesn't decide on rotation.
    case sheet
  }
}

extension RotationEvent: Hashable {
  /// Returns whether the times and actions are equal. The line numbers are not compared.
  public static func == (a: RotationEvent, b: RotationEvent) -> Bool {
    a.at == b.at && a.action == b.action
  }

  /// Hashes the time and the action.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(at)
    hasher.combine(action)
  }
}

/// The answers of a controller that a `set` event changes. `nil` means unchanged.
public struct ControllerAnswers: Sendable, Hashable, Codable {
  /// Whether the controller autorotates.
  public var shouldAutorotate: PolicyDocument.Controller.Autorotation?
  /// The supported orientations. An empty list is an empty mask.
  public var supported: OrientationList?
  /// The preferred orientation for presentation.
  public var preferred: InterfaceOrientation?
  /// Whether the controller ignores rotation while the app is inactive.
  public var ignoresRotationWhileInactive: Bool?
  /// The orientations in which camera frames are sent.
  public var captureEnabledIn: OrientationList?
  /// The orientations accepted under iOS 5 semantics.
  public var accepts: OrientationList?

  /// Creates a value that changes no answer.
  public init() {}
}
