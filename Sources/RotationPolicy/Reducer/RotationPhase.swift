public import Orientation

/// One turn, from its decision to `didRotate`; spec 2, "A turn, in phases".
public struct RotationTurn: Sendable, Hashable {
  /// The event that was answered with this turn, counted from 0.
  public let eventIndex: Int
  /// The app orientation before.
  public let from: InterfaceOrientation
  /// The app orientation after.
  public let to: InterfaceOrientation
  /// When it was decided: `willRotate`, `layout` and `willAnimate`.
  public let starts: Double
  /// When `didRotate` comes; equal to `starts` for a cut.
  public let ends: Double
  /// Who is told: the deciding controller and its visible descendants, by name.
  public let receivers: [String]

  /// The phases in their order.
  public var phases: [RotationPhase] {
    RotationPhase.Kind.allCases.map { phase($0) }
  }

  func phase(_ kind: RotationPhase.Kind) -> RotationPhase {
    RotationPhase(kind: kind, turn: self)
  }
}

/// One phase of a turn.
public struct RotationPhase: Sendable, Hashable {
  /// The phases in their order.
  public enum Kind: String, CaseIterable, Sendable, Hashable {
    /// `willRotateToInterfaceOrientation:`
    case willRotate
    /// The new size is known, the orientation is still the old one.
    case layout
    /// `willAnimateRotationToInterfaceOrientation:`
    case willAnimate
    /// `didRotateFromInterfaceOrientation:`; the stream's format changes right after it.
    case didRotate
  }

  /// Which phase.
  public let kind: Kind
  /// The turn it belongs to.
  public let turn: RotationTurn

  /// When, in seconds.
  public var at: Double { kind == .didRotate ? turn.ends : turn.starts }

  /// What the phase's message carries: the new orientation, and for `didRotate` the old one.
  public var orientation: InterfaceOrientation { kind == .didRotate ? turn.from : turn.to }

  /// `{"at": 3.0, "phase": "willRotate"}`
  public var json: JSONValue { ["at": .number(at), "phase": .string(kind.rawValue)] }
}
