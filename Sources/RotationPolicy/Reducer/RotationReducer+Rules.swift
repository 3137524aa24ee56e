internal import UprightOrientation

extension RotationReducer {
  /// The source of a request for rotation. It determines the first rule that is checked.
  enum RequestSource: Sendable {
    /// The device, or a re-evaluation. Starts at rule 2. (Rule 1 applies if there is no target.)
    case automatic
    /// The app itself. Starts at rule 4. A `manual` controller autorotates.
    case manual
    /// The system rotation lock, when it is switched on. Starts at rule 4.
    case lock
  }

  /// The result of the rules, before any state changes.
  struct RuleResult {
    let outcome: RotationDecision.Outcome
    let rule: RotationRule
    let reason: String?

    static func keep(_ rule: RotationRule) -> RuleResult {
      RuleResult(outcome: .keep, rule: rule, reason: nil)
    }

    /// A report gives the name of the rule as the reason.
    static func refused(_ rule: RotationRule) -> RuleResult {
      RuleResult(outcome: .refuse, rule: rule, reason: "\(rule)")
    }

    static func invalid(_ rule: RotationRule, _ message: String) -> RuleResult {
      RuleResult(outcome: .invalid, rule: rule, reason: message)
    }
  }

  /// The orientations that the application and the deciding controller allow. iOS 5 asks only the controller.
  var allowedMask: InterfaceOrientationMask {
    let mask = deciding.mask ?? []
    return tree.semantics == .ios5 ? mask : mask.intersection(applicationMask)
  }

  /// Returns the result of the first of the rules 2 to 8 that applies. See `RotationRule`.
  func verdict(
    for target: InterfaceOrientation, asking: RequestSource, current: InterfaceOrientation,
    isHeld: Bool
  ) -> RuleResult {
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
      ? .keep(.current) : RuleResult(outcome: .rotate, rule: .turned, reason: nil)
  }
}

/// The messages of UIKit's exceptions.
enum InvalidMessage {
  static let preferredNotSupported =
    "preferredInterfaceOrientationForPresentation must return a supported interface orientation!"

  static func nothingInCommon(_ name: String) -> String {
    "Supported orientations has no common orientation with the application,"
      + " and [\(name) shouldAutorotate] is returning YES"
  }
}
