public import UprightOrientation

/// A rotation policy: the device, the application and the view controllers. In JSON, every key is optional.
///
/// A document can be changed in code. `RotationReducer` validates it again.
public struct PolicyDocument: Sendable, Hashable {
  /// The version of UIKit's rules.
  public enum Semantics: String, CaseIterable, Sendable, Hashable, Codable {
    /// `supportedInterfaceOrientations` and `shouldAutorotate`.
    case ios6
    /// `shouldAutorotateToInterfaceOrientation:`.
    case ios5
  }

  /// The initial state of the device.
  public struct Device: Sendable, Hashable {
    /// The kind of device.
    public var idiom = Idiom.phone
    /// The orientation of the device.
    public var orientation = DeviceOrientation.portrait
    /// Whether the system rotation lock is on.
    public var rotationLock = false

    /// Creates an upright phone without rotation lock.
    public init() {}
  }

  /// The kind of device (`UIUserInterfaceIdiom`).
  public enum Idiom: String, CaseIterable, Sendable, Hashable {
    /// A phone. Supports all orientations except upside down by default. Every presentation is full screen.
    case phone
    /// A pad. Supports all orientations by default. Popovers and sheets don't decide on rotation.
    case pad

    /// The default of the supported orientations.
    public var supported: InterfaceOrientationMask {
      self == .phone ? .allButUpsideDown : .all
    }
  }

  /// The answers of the application.
  public struct Application: Sendable, Hashable {
    /// The value of `UISupportedInterfaceOrientations`. `nil` or empty means absent.
    public var infoPlist: InterfaceOrientationMask?
    /// The answer to `application:supportedInterfaceOrientationsForWindow:`. Takes precedence over
    /// `infoPlist`. `nil` or empty means absent.
    public var delegate: InterfaceOrientationMask?
    /// Whether the application is active at the start.
    public var active = true

    /// Creates an active application that gives no answers.
    package init() {}

    /// Returns the effective mask on `idiom`. Never empty.
    public func mask(on idiom: Idiom) -> InterfaceOrientationMask {
      for mask in [delegate, infoPlist] {
        if let mask, !mask.isEmpty { return mask }
      }
      return idiom.supported
    }
  }

  /// The version of UIKit's rules.
  public var semantics = Semantics.ios6
  /// The initial state of the device.
  public var device = Device()
  /// The application.
  public var application = Application()
  /// The name of the root controller. `nil` means the only controller.
  public var root: String?
  /// The controllers, in the order of the document. If empty, there is one controller with default answers.
  public var controllers: [Controller] = []
  /// The transition of a rotation.
  public var transition = Transition()
  /// `stream.size`: the encoded size.
  public var streamSize: PixelSize?
  /// `stream.captureSize`: the size that the app captures.
  public var streamCaptureSize: PixelSize?

  /// The streaming guidance of the document, or `nil` if it gives no size. If it gives one size, that is used
  /// for both.
  public var stream: StreamGuidance? {
    guard let size = streamSize ?? streamCaptureSize else { return nil }
    return StreamGuidance(encodeSize: size, captureSize: streamCaptureSize ?? size)
  }

  /// Creates a document with default values: a phone with one controller that rotates with the device.
  public init() {}
}

/// The transition of a rotation (`transition`).
public struct Transition: Sendable, Hashable {
  /// The transition styles.
  public enum Style: String, CaseIterable, Sendable, Hashable {
    /// The new orientation at once, whatever the duration.
    case cut
    /// The last frame is repeated until the rotation ends.
    case hold
    /// The held frame blends into the new layout.
    case crossfade
    /// The frame rotates on the canvas.
    case spin
  }

  /// The transition style.
  public var style = Style.cut
  /// The time from `willAnimate` to `didRotate`, in seconds.
  public var duration = 0.3

  /// Creates a transition. The default arguments are the defaults of a document.
  public init(style: Style = .cut, duration: Double = 0.3) {
    self.style = style
    self.duration = duration
  }

  /// The actual duration of a rotation, in seconds: 0 for a cut.
  public var effectiveDuration: Double { style == .cut ? 0 : duration }

  /// The maximum duration, in seconds.
  static let longestDuration = 3600.0
}
