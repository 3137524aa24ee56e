public import Orientation

/// Something that happened to the device or in the app, at a time on the media timeline; spec 2,
/// "Events".
public struct RotationEvent: Sendable {
  /// Seconds on the media timeline. It takes effect at the first frame whose PTS is >= `at` - 1 ms.
  public var at: Double
  /// What happened.
  public var action: Action
  /// The line of the file it was read from, 1-based, for messages. Not part of its value.
  public var line: Int?

  /// The latest time that is accepted, in seconds (31 years).
  public static let latest = 1e9

  /// An event.
  public init(at: Double, _ action: Action) {
    self.at = at
    self.action = action
  }

  /// What happened.
  public enum Action: Sendable, Hashable {
    /// The device turned.
    case device(DeviceOrientation)
    /// A raw sensor reading in g: x right, y up, z out of the screen.
    case gravity(x: Double, y: Double, z: Double)
    /// The app turns itself; the device's orientation is untouched.
    case rotate(InterfaceOrientation)
    /// The system's rotation lock.
    case lock(Bool)
    /// The app became active, or resigned.
    case active(Bool)
    /// A controller is presented; nil: full screen.
    case present(String, style: PresentationStyle?)
    /// The topmost presentation is removed.
    case dismiss
    /// A controller is pushed onto a navigation.
    case push(String, onto: String)
    /// A navigation's top is removed.
    case pop(String)
    /// A tab is selected.
    case select(String, in: String)
    /// A controller's answers change.
    indirect case set(String, ControllerAnswers)
    /// The application delegate's mask changes; empty: absent.
    indirect case setApplication(delegate: OrientationWords)
  }

  /// How a controller is presented.
  public enum PresentationStyle: String, CaseIterable, Sendable, Hashable {
    /// It covers the screen and decides.
    case fullScreen
    /// On a pad it does not decide.
    case popover
    /// On a pad it does not decide.
    case sheet
  }
}

extension RotationEvent: Hashable {
  /// Equal in time and action; the line it was read from does not count.
  public static func == (a: RotationEvent, b: RotationEvent) -> Bool {
    a.at == b.at && a.action == b.action
  }

  /// Hashes time and action.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(at)
    hasher.combine(action)
  }
}

/// The answers of a controller that a `set` event changes; nil: unchanged.
public struct ControllerAnswers: Sendable, Hashable {
  /// Whether it autorotates.
  public var shouldAutorotate: PolicyDocument.Controller.Autorotation?
  /// What it supports; an empty list is an empty mask.
  public var supported: OrientationWords?
  /// What it prefers to be presented in.
  public var preferred: InterfaceOrientation?
  /// Whether nothing turns while the application is not active.
  public var ignoresRotationWhileInactive: Bool?
  /// Where the camera is sent.
  public var captureEnabledIn: OrientationWords?
  /// iOS 5's answer.
  public var accepts: OrientationWords?

  /// No answer changed.
  public init() {}
}
