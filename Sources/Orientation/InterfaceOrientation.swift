/// The orientation of an app's interface. Raw values are `UIInterfaceOrientation`'s.
public enum InterfaceOrientation: Int, CaseIterable, Sendable, Hashable, Codable {
  /// Not decided yet.
  case unknown = 0
  /// Home button at the bottom.
  case portrait = 1
  /// Home button at the top.
  case portraitUpsideDown = 2
  /// Home button on the right: the same raw value as the *device's* `landscapeLeft`.
  case landscapeRight = 3
  /// Home button on the left: the same raw value as the *device's* `landscapeRight`.
  case landscapeLeft = 4
}

extension InterfaceOrientation {
  /// The four orientations other than `unknown`, in raw order.
  public static let upright: [InterfaceOrientation] = [
    .portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft,
  ]

  /// The device orientation at which this interface is upright; `unknown` for `unknown`.
  public var device: DeviceOrientation {
    switch self {
    case .unknown: .unknown
    case .portrait: .portrait
    case .portraitUpsideDown: .portraitUpsideDown
    case .landscapeRight: .landscapeLeft
    case .landscapeLeft: .landscapeRight
    }
  }

  /// Whether the interface is wider than it is tall.
  public var isLandscape: Bool { self == .landscapeLeft || self == .landscapeRight }
}

/// A set of interface orientations. Raw values are `UIInterfaceOrientationMask`'s: `1 << raw`.
public struct InterfaceOrientationMask: OptionSet, Sendable, Hashable, Codable {
  /// The bits: `1 << raw` of each member.
  public let rawValue: Int

  /// Creates a mask from its bits. Bits that belong to no orientation are kept and ignored.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Creates the mask of one orientation; empty for `unknown`.
  public init(_ orientation: InterfaceOrientation) {
    rawValue = orientation == .unknown ? 0 : 1 << orientation.rawValue
  }

  /// Bit 2.
  public static let portrait = Self(.portrait)
  /// Bit 4.
  public static let portraitUpsideDown = Self(.portraitUpsideDown)
  /// Bit 8.
  public static let landscapeRight = Self(.landscapeRight)
  /// Bit 16.
  public static let landscapeLeft = Self(.landscapeLeft)
  /// Both landscapes: 24.
  public static let landscape: Self = [.landscapeLeft, .landscapeRight]
  /// All four: 30.
  public static let all: Self = [.portrait, .portraitUpsideDown, .landscape]
  /// All but upside down: 26, the default on a phone.
  public static let allButUpsideDown: Self = [.portrait, .landscape]

  /// The members in raw order.
  public var orientations: [InterfaceOrientation] {
    InterfaceOrientation.upright.filter { contains($0) }
  }

  /// Returns whether the mask contains `orientation`. Always `false` for `unknown`.
  public func contains(_ orientation: InterfaceOrientation) -> Bool {
    orientation != .unknown && contains(Self(orientation))
  }
}
