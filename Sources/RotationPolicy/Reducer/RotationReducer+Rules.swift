internal import Orientation

extension RotationReducer {
  /// Who asks for a turn; the rules begin at another number for each.
  enum Asking: Sendable {
    /// The device, and what re-evaluates: from rule 2 on (1 is where there is no target).
    case automatic
    /// The app itself: from 4 on, and a `manual` controller says yes.
    case manual
    /// The system's lock going on: from 4 on.
    case lock
  }

  /// What the rules say; nothing has changed yet.
  struct Verdict {
    let outcome: RotationDecision.Outcome
    let rule: RotationRule
    let reason: String?

    static func keep(_ rule: RotationRule) -> Verdict {
      Verdict(outcome: .keep, rule: rule, reason: nil)
    }

    static func refused(_ refusal: Refusal) -> Verdict {
      Verdict(outcome: .refuse, rule: refusal.rule, reason: refusal.reason)
    }

    static func invalid(_ rule: RotationRule, _ message: String) -> Verdict {
      Verdict(outcome: .invalid, rule: rule, reason: message)
    }
  }

  /// A refusal: its rule, and the word a report gives as the reason.
  enum Refusal {
    case rotationLocked, applicationInactive, autorotationDisabled, notSupported

    var rule: RotationRule {
      switch self {
      case .rotationLocked: .rotationLocked
      case .applicationInactive: .applicationInactive
      case .autorotationDisabled: .autorotationDisabled
      case .notSupported: .notSupported
      }
    }

    var reason: String {
      switch self {
      case .rotationLocked: "rotationLocked"
      case .applicationInactive: "applicationInactive"
      case .autorotationDisabled: "autorotationDisabled"
      case .notSupported: "notSupported"
      }
    }
  }

  /// What application and deciding controller allow. iOS 5 asks the controller alone.
  var allowedMask: InterfaceOrientationMask {
    let mask = deciding.mask ?? []
    return tree.semantics == .ios5 ? mask : mask.intersection(applicationMask)
  }

  /// Spec 2, "Automatic turn" and "Manual turn": the rules 2 to 8, the first that applies.
  func verdict(
    for target: InterfaceOrientation, asking: Asking, current: InterfaceOrientation, isHeld: Bool
  ) -> Verdict {
    if asking == .automatic {
      if isHeld { return .keep(.held) }
      if state.rotationLock { return .refused(.rotationLocked) }
    }
    let controller = tree[deciding.controller]
    if !state.active, controller.ignoresRotationWhileInactive {
      return .refused(.applicationInactive)
    }
    let allowed = allowedMask
    if tree.semantics == .ios6 {
      switch (controller.autorotation, asking) {
      case (.yes, _), (.manual, .manual): break
      case (.no, _), (.manual, _): return .refused(.autorotationDisabled)
      }
      if deciding.mask == nil {
        return .invalid(.preferredNotSupported, InvalidMessage.preferredNotSupported)
      }
      if allowed.isEmpty {
        return .invalid(.nothingInCommon, InvalidMessage.nothingInCommon(controller.name))
      }
    }
    guard allowed.contains(target) else { return .refused(.notSupported) }
    return target == current
      ? .keep(.current) : Verdict(outcome: .rotate, rule: .turned, reason: nil)
  }
}

/// UIKit's own words, as its exceptions carry them.
enum InvalidMessage {
  static let preferredNotSupported =
    "preferredInterfaceOrientationForPresentation must return a supported interface orientation!"

  static func nothingInCommon(_ name: String) -> String {
    "Supported orientations has no common orientation with the application,"
      + " and [\(name) shouldAutorotate] is returning YES"
  }
}
