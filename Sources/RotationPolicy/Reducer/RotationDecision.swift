public import UprightOrientation

/// The decision on an event. Every event has exactly one.
public struct RotationDecision: Sendable, Hashable, Codable {
  /// The result of a decision.
  public enum Outcome: String, CaseIterable, Sendable, Hashable, Codable {
    /// The app rotates.
    case rotate
    /// No rotation is needed.
    case keep
    /// A rotation was requested and refused. See `reason`.
    case refuse
    /// UIKit would raise an exception. A change of the controller tree is undone.
    case invalid
  }

  /// The rule that applied and the values that it used, for `explain --why`.
  public struct Why: Sendable, Hashable, Codable {
    /// The rule that applied.
    public let rule: RotationRule
    /// The mask of the application.
    public let applicationMask: InterfaceOrientationMask
    /// The mask of the deciding controller. `nil` if it is unknown, because a container has no child to ask.
    public let controllerMask: InterfaceOrientationMask?
    /// The name of the deciding controller.
    public let controller: String
    /// The containers on the way to the deciding controller, from the root or the presented controller.
    public let containers: [String]
    /// Whether a full-screen presentation decides, instead of the root.
    public let isPresented: Bool
    /// The version of UIKit's rules. iOS 5 asks only the controller, not the application.
    public let semantics: PolicyDocument.Semantics
    /// The answer of the deciding controller to `shouldAutorotate`.
    public let autorotation: PolicyDocument.Controller.Autorotation
    /// The explicit `preferred` of the deciding controller.
    public let preferred: InterfaceOrientation?
    /// The device orientation.
    public let device: DeviceOrientation
    /// The holds at the time of the decision.
    public let hold: RotationState.Hold
    /// The result of showing the deciding controller, if the event made it the deciding one.
    public let show: Show?

    /// The result of showing a controller: the placement, then the re-evaluation.
    public struct Show: Sendable, Hashable, Codable {
      /// The orientation in which the controller is shown, before the re-evaluation.
      public let placed: InterfaceOrientation
      /// Whether this is an explicit `preferred` that starts a hold.
      public let holds: Bool
      /// The rule that applied in the re-evaluation. `nil` if there was none.
      public let reevaluation: RotationRule?
    }

    /// The orientations that both the application and the controller allow (iOS 5: that the controller
    /// accepts).
    public var allowed: InterfaceOrientationMask {
      let mask = controllerMask ?? []
      return semantics == .ios5 ? mask : mask.intersection(applicationMask)
    }
  }

  /// The index of the event, counted from 0 over the events that were reduced.
  public let eventIndex: Int
  /// The event.
  public let event: RotationEvent
  /// The time of the decision, in seconds: `at`, or the time of `didRotate` if the event had to wait for a
  /// rotation in progress.
  public let decidedAt: Double
  /// The result.
  public let outcome: Outcome
  /// The reason, if `outcome` is `refuse`, `invalid`, or `keep` for a superseded event.
  public let reason: String?
  /// The requested orientation, or `nil` if none was requested.
  public let target: InterfaceOrientation?
  /// The app orientation before the decision.
  public let from: InterfaceOrientation
  /// The app orientation after the decision. Equal to `from` unless `outcome` is `rotate`.
  public let to: InterfaceOrientation
  /// The orientations that the deciding controller and the application allow after the event.
  package let allowedMask: InterfaceOrientationMask
  /// The rotation, if `outcome` is `rotate`.
  public let turn: RotationTurn?
  /// A warning for the report.
  public let warning: String?
  /// The rule that applied and the values that it used.
  public let why: Why

  /// The time of the event, in seconds.
  public var at: Double { event.at }

  /// The name of the exception, if `outcome` is `invalid`.
  public var name: String? { outcome == .invalid ? Self.invalidName : nil }

  /// The allowed orientations, in the order of their raw values.
  public var allowed: [InterfaceOrientation] { allowedMask.orientations }

  /// The phases of the rotation. Empty unless `outcome` is `rotate`.
  public var phases: [RotationPhase] { turn?.phases ?? [] }

  /// The exception that UIKit raises.
  static let invalidName = "UIApplicationInvalidInterfaceOrientation"
}

/// The rule that decided on an event.
public enum RotationRule: Sendable, Hashable, Codable {
  /// Rule 1: the device is flat, or its orientation is unknown.
  case flat
  /// Rule 2: a hold is on.
  case held
  /// Rule 3: the system rotation lock is on.
  case rotationLocked
  /// Rule 4: the app is inactive and the controller ignores rotation meanwhile.
  case applicationInactive
  /// Rule 5: the controller doesn't autorotate.
  case autorotationDisabled
  /// Rule 6: the application and the controller have no orientation in common.
  case nothingInCommon
  /// Rule 7: the target is not allowed.
  case notSupported
  /// Rule 8: the app is already in the target orientation.
  case current
  /// Rule 8: the app rotates.
  case turned
  /// Showing: no orientation in common, and the controller doesn't autorotate. It is shown in its preferred
  /// orientation.
  case shownInPreferred
  /// Showing: no orientation in common, and the controller autorotates. The event is invalid.
  case showingNothingInCommon
  /// Showing: the preferred orientation is not supported. The event is invalid.
  case preferredNotSupported
  /// Showing: none of the other cases applies.
  case shown
  /// The controller tree changed, but not the deciding controller.
  case treeOnly
  /// Nothing is presented to dismiss, or the stack to pop has only one controller.
  case nothingToRemove
  /// A state changed that requests no rotation.
  case stateOnly
  /// The state did not change.
  case repeated
  /// A gravity reading did not change the device orientation.
  case reading
  /// A later event requested a rotation before this one was decided.
  case superseded

  /// The number of the rule among the eight rules of automatic rotation. `nil` for the others.
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
