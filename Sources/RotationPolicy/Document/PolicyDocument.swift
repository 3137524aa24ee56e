public import Orientation

/// A rotation policy: which device, which application, which view controllers, as spec 2 writes it
/// in JSON. Every key is optional.
///
/// A value like any other: change it and hand it to `RotationReducer`, which judges the whole again.
public struct PolicyDocument: Sendable, Hashable {
  /// Whose rules decide.
  public enum Semantics: String, CaseIterable, Sendable, Hashable {
    /// `supportedInterfaceOrientations` and `shouldAutorotate`.
    case ios6
    /// `shouldAutorotateToInterfaceOrientation:`.
    case ios5
  }

  /// The device at the start.
  public struct Device: Sendable, Hashable {
    /// What kind of device.
    public var idiom = Idiom.phone
    /// How it is held.
    public var orientation = DeviceOrientation.portrait
    /// Whether the system's rotation lock is on.
    public var rotationLock = false

    /// A phone, upright, not locked.
    public init() {}
  }

  /// The kind of device (`UIUserInterfaceIdiom`).
  public enum Idiom: String, CaseIterable, Sendable, Hashable {
    /// All but upside down by default; every presentation is full screen.
    case phone
    /// All orientations by default; popovers and sheets do not decide.
    case pad

    /// What is supported where nothing is said.
    public var supported: InterfaceOrientationMask {
      self == .phone ? .allButUpsideDown : .all
    }
  }

  /// The application's own answers.
  public struct Application: Sendable, Hashable {
    /// `UISupportedInterfaceOrientations`; nil or empty: absent.
    public var infoPlist: InterfaceOrientationMask?
    /// `application:supportedInterfaceOrientationsForWindow:`; wins over `infoPlist`. Nil or
    /// empty: absent.
    public var delegate: InterfaceOrientationMask?
    /// Whether the application is active at the start.
    public var active = true

    /// An application that says nothing and is active.
    public init() {}

    /// The mask that counts on `idiom`; never empty.
    public func mask(on idiom: Idiom) -> InterfaceOrientationMask {
      for mask in [delegate, infoPlist] {
        if let mask, !mask.isEmpty { return mask }
      }
      return idiom.supported
    }
  }

  /// Whose rules decide.
  public var semantics = Semantics.ios6
  /// The device at the start.
  public var device = Device()
  /// The application.
  public var application = Application()
  /// The root controller's name; nil: the only controller.
  public var root: String?
  /// The controllers, in the order of the document. Empty: one with defaults.
  public var controllers: [Controller] = []
  /// How a turn is shown.
  public var transition = Transition()
  /// `stream.size`: what is encoded.
  public var streamSize: PixelSize?
  /// `stream.captureSize`: what the app captures.
  public var streamCaptureSize: PixelSize?

  /// The streaming guidance that the document asks for, or nil where it names no size. A size that
  /// stands alone is both sizes.
  public var stream: StreamGuidance? {
    guard let size = streamSize ?? streamCaptureSize else { return nil }
    return StreamGuidance(encodeSize: size, captureSize: streamCaptureSize ?? size)
  }

  /// The document in which everything is a default: a phone whose only controller follows.
  public init() {}
}

/// How a turn is shown (`transition`).
public struct Transition: Sendable, Hashable {
  /// The ways to show a turn; spec 3, "Turns on screen".
  public enum Style: String, CaseIterable, Sendable, Hashable {
    /// The new orientation at once, whatever the duration.
    case cut
    /// The last frame stands until the turn ends.
    case hold
    /// The held frame blends into the new layout.
    case crossfade
    /// The picture turns on the canvas.
    case spin
  }

  /// How it is shown.
  public var style = Style.cut
  /// Seconds from `willAnimate` to `didRotate`.
  public var duration = 0.3

  /// A transition; spec 2's default without arguments.
  public init(style: Style = .cut, duration: Double = 0.3) {
    self.style = style
    self.duration = duration
  }

  /// Seconds that a turn really takes: 0 for a cut.
  public var effectiveDuration: Double { style == .cut ? 0 : duration }

  /// The longest duration that is accepted, in seconds.
  public static let longestDuration = 3600.0
}
