public import Orientation

/// The answer to one event; every event gets exactly one. Spec 2, "Decisions".
public struct RotationDecision: Sendable, Hashable {
  /// What became of the event.
  public enum Outcome: String, CaseIterable, Sendable, Hashable {
    /// The app turns.
    case rotate
    /// Nothing to turn.
    case keep
    /// A turn was asked for and refused; `reason` says why.
    case refuse
    /// UIKit would raise an exception; the event is undone.
    case invalid
  }

  /// Why, for `explain --why`: the rule that answered and what it looked at.
  public struct Why: Sendable, Hashable {
    /// The rule that answered.
    public let rule: RotationRule
    /// The application's mask.
    public let applicationMask: InterfaceOrientationMask
    /// The deciding controller's mask; nil where it cannot be found out.
    public let controllerMask: InterfaceOrientationMask?
    /// The deciding controller's name.
    public let controller: String
    /// The containers asked on the way to it, from the root or the presentation.
    public let containers: [String]
    /// Whether a full-screen presentation decides and not the root.
    public let isPresented: Bool
    /// Whose rules decide; iOS 5 asks the controller alone.
    public let semantics: PolicyDocument.Semantics
    /// The deciding controller's answer to `shouldAutorotate`.
    public let autorotation: PolicyDocument.Controller.Autorotation
    /// The deciding controller's explicit `preferred`.
    public let preferred: InterfaceOrientation?
    /// How the device is held.
    public let device: DeviceOrientation
    /// What kept automatic turns away when it was answered.
    public let hold: RotationState.Hold
    /// What showing the deciding controller did, where the event made it decide.
    public let show: Show?

    /// The two halves of a show.
    public struct Show: Sendable, Hashable {
      /// Where showing alone put the app.
      public let placed: InterfaceOrientation
      /// Whether it is an explicit `preferred` that now holds.
      public let holds: Bool
      /// The rule that answered the re-evaluation; nil where there was none.
      public let reevaluation: RotationRule?
    }

    /// What both the application and the controller allow (iOS 5: what the controller accepts).
    public var allowed: InterfaceOrientationMask {
      let mask = controllerMask ?? []
      return semantics == .ios5 ? mask : mask.intersection(applicationMask)
    }
  }

  /// Counted from 0 over the events that were reduced.
  public let eventIndex: Int
  /// The event.
  public let event: RotationEvent
  /// When it was answered: `at`, or the `didRotate` that a turn in flight made it wait for.
  public let decidedAt: Double
  /// What became of it.
  public let outcome: Outcome
  /// For refuse, invalid and a superseded keep.
  public let reason: String?
  /// The orientation that was asked for, nil where none was.
  public let target: InterfaceOrientation?
  /// The app orientation before.
  public let from: InterfaceOrientation
  /// The app orientation after; equal to `from` unless the outcome is rotate.
  public let to: InterfaceOrientation
  /// What the deciding controller and the application allow after the event.
  public let allowedMask: InterfaceOrientationMask
  /// The turn, for rotate.
  public let turn: RotationTurn?
  /// Something a report should warn of though it is no error.
  public let warning: String?
  /// The rule that answered, and what it looked at.
  public let why: Why

  /// The event's time.
  public var at: Double { event.at }

  /// The exception's name, for invalid.
  public var name: String? { outcome == .invalid ? Self.invalidName : nil }

  /// The allowed orientations in raw order.
  public var allowed: [InterfaceOrientation] { allowedMask.orientations }

  /// The turn's phases; empty unless the outcome is rotate.
  public var phases: [RotationPhase] { turn?.phases ?? [] }

  /// The exception that UIKit raises.
  public static let invalidName = "UIApplicationInvalidInterfaceOrientation"
}

/// The rule that answered an event.
public enum RotationRule: Sendable, Hashable {
  /// 1: the device is flat, or its orientation unknown.
  case flat
  /// 2: a manual hold is on.
  case held
  /// 3: the system's rotation lock is on.
  case rotationLocked
  /// 4: the app is inactive and the controller ignores rotation meanwhile.
  case applicationInactive
  /// 5: the controller does not autorotate.
  case autorotationDisabled
  /// 6: application and controller have nothing in common.
  case nothingInCommon
  /// 7: the target is not allowed.
  case notSupported
  /// 8: the app is in the target already.
  case current
  /// 8, else: it turns.
  case turned
  /// Showing, an empty intersection: shown in its preferred orientation.
  case shownInPreferred
  /// Showing, an empty intersection and it autorotates: invalid.
  case showingNothingInCommon
  /// Showing: the preferred orientation is not supported: invalid.
  case preferredNotSupported
  /// Showing, the last row.
  case shown
  /// Who decides did not change: the tree only.
  case treeOnly
  /// Nothing presented, one controller left on a stack.
  case nothingToRemove
  /// A state that asks for no turn.
  case stateOnly
  /// A state that was so already.
  case repeated
  /// A gravity reading that does not change the classified orientation.
  case reading
  /// A later event asked for a turn before this one could be answered.
  case superseded

  /// The rule's number among the automatic turn's eight; nil for the others.
  public var number: Int? {
    switch self {
    case .flat: 1
    case .held: 2
    case .rotationLocked: 3
    case .applicationInactive: 4
    case .autorotationDisabled: 5
    case .nothingInCommon: 6
    case .notSupported: 7
    case .current, .turned: 8
    default: nil
    }
  }
}
