public import UprightOrientation

/// A rotation of the app, from its decision to `didRotate`.
public struct RotationTurn: Sendable, Hashable, Codable {
  /// The index of the event that caused the rotation, counted from 0.
  public let eventIndex: Int
  /// The app orientation before the rotation.
  public let from: InterfaceOrientation
  /// The app orientation after the rotation.
  public let to: InterfaceOrientation
  /// The time of the decision, in seconds, and of `willRotate`, `layout` and `willAnimate`.
  public let starts: Double
  /// The time of `didRotate`, in seconds. Equal to `starts` for a cut.
  public let ends: Double
  /// The names of the controllers that are notified: the deciding controller and its visible descendants.
  public let receivers: [String]

  /// The phases, in order.
  public var phases: [RotationPhase] {
    RotationPhase.Kind.allCases.map { phase($0) }
  }

  func phase(_ kind: RotationPhase.Kind) -> RotationPhase {
    RotationPhase(kind: kind, turn: self)
  }
}

/// A phase of a rotation.
public struct RotationPhase: Sendable, Hashable {
  /// The phases, in order.
  public enum Kind: String, CaseIterable, Sendable, Hashable {
    /// `willRotateToInterfaceOrientation:`
    case willRotate
    /// The new size is known. The orientation is still the old one.
    case layout
    /// `willAnimateRotationToInterfaceOrientation:`
    case willAnimate
    /// `didRotateFromInterfaceOrientation:`. The stream format changes immediately after it.
    case didRotate
  }

  /// The kind of phase.
  public let kind: Kind
  /// The rotation.
  public let turn: RotationTurn

  /// The time of the phase, in seconds.
  public var at: Double { kind == .didRotate ? turn.ends : turn.starts }

  /// The argument of the UIKit method: the new orientation, or for `didRotate` the old one.
  public var orientation: InterfaceOrientation { kind == .didRotate ? turn.from : turn.to }

  /// `{"at": 3.0, "phase": "willRotate"}`
  public var json: JSONValue {
    .object([.init("at", .number(at)), .init("phase", .string(kind.rawValue))])
  }
}
