internal import UprightOrientation

extension RotationReducer {
  /// The way in which the controller became the deciding one.
  enum ShowReason: Sendable {
    /// The controller with this index was presented.
    case presented(Int)
    /// The controller is the root, or was shown by push, pop, select or dismiss.
    case other
  }

  /// The result of showing a controller, before and after the re-evaluation.
  struct ShowResult {
    /// The resulting app orientation.
    var to: InterfaceOrientation
    /// The orientation in which the controller is shown, before the re-evaluation.
    let placed: InterfaceOrientation
    /// Whether `placed` differs from the current orientation. This ends all holds.
    let mustTurn: Bool
    /// Whether an explicit `preferred` of the presented controller starts a hold.
    let holds: Bool
    /// The orientation that was requested, by `preferred` or by the re-evaluation. `nil` if there is none.
    var target: InterfaceOrientation?
    /// Whether a re-evaluation follows.
    let reevaluates: Bool
    /// The rule that applied in the re-evaluation.
    var reevaluation: RotationRule?
    let rule: RotationRule

    var show: RotationDecision.Why.Show {
      .init(placed: placed, holds: holds, reevaluation: reevaluation)
    }
  }

  enum ShowEvaluation {
    case invalid(reason: String, rule: RotationRule)
    case settled(ShowResult)
  }

  /// Returns the result of showing the deciding controller: the placement, then the re-evaluation. Changes no
  /// state.
  func judge(_ showing: ShowReason) -> ShowEvaluation {
    guard case .settled(var settlement) = place(showing) else { return place(showing) }
    guard settlement.reevaluates else { return .settled(settlement) }
    guard let target = state.device.interface else {
      settlement.reevaluation = .flat
      return .settled(settlement)
    }
    let isHeld = settlement.holds || (state.hold.isOn && !settlement.mustTurn)
    let verdict = verdict(
      for: target, asking: .automatic, current: settlement.to, isHeld: isHeld)
    settlement.reevaluation = verdict.rule
    if verdict.outcome == .rotate { settlement.to = target }
    if settlement.target == nil { settlement.target = target }
    return .settled(settlement)
  }

  /// Returns the placement of the deciding controller. The first row that applies (iOS 6):
  ///
  /// 1. No orientation in common with the application, and it autorotates: invalid.
  /// 2. No orientation in common, and it doesn't autorotate: its preferred orientation, if supported.
  /// 3. No orientation in common, and the preferred orientation is not supported: invalid.
  /// 4. The preferred orientation is not supported: invalid.
  /// 5. Presented: the preferred orientation if allowed, else as below. Otherwise: the current orientation if
  ///    allowed, else the preferred one if allowed, else the allowed one with the lowest raw value.
  ///
  /// Under iOS 5: the current orientation if accepted, else the accepted one with the lowest raw value.
  ///
  /// Always invalid if a container has no child to ask.
  func place(_ showing: ShowReason) -> ShowEvaluation {
    let current = state.appOrientation
    let controller = tree[deciding.controller]
    guard deciding.isFound, let supported = deciding.mask else {
      return .invalid(
        reason: InvalidMessage.preferredNotSupported, rule: .preferredNotSupported)
    }
    let allowed = allowedMask
    if tree.semantics == .ios5 {
      let placed = allowed.contains(current) ? current : allowed.lowest ?? current
      return .settled(
        ShowResult(
          to: placed, placed: placed, mustTurn: placed != current, holds: false, target: nil,
          reevaluates: true,
          rule: .shown))
    }
    if allowed.isEmpty, controller.autorotation == .yes {
      return .invalid(
        reason: InvalidMessage.nothingInCommon(controller.name), rule: .showingNothingInCommon)
    }
    let preferred = controller.preferred ?? supported.fallback(from: current)
    guard let preferred, supported.contains(preferred) else {
      return .invalid(
        reason: InvalidMessage.preferredNotSupported, rule: .preferredNotSupported)
    }
    let asPresented =
      allowed.contains(preferred) || allowed.isEmpty
      ? preferred : allowed.contains(current) ? current : allowed.lowest ?? current
    var placed = asPresented
    var holds = false
    if case .presented = showing {
      holds = controller.preferred == placed
    } else if allowed.contains(current) {
      placed = current
    }
    return .settled(
      ShowResult(
        to: placed, placed: placed, mustTurn: placed != current, holds: holds,
        target: holds ? placed : nil,
        reevaluates: !allowed.isEmpty && controller.autorotation == .yes,
        rule: allowed.isEmpty ? .shownInPreferred : .shown))
  }

  /// Returns how the controller is shown at the time of the decision: `other` if the presentation was
  /// covered or dismissed in the meantime.
  func effective(_ showing: ShowReason) -> ShowReason {
    guard case .presented(let index) = showing, state.decidingPresentation?.index == index else {
      return .other
    }
    return showing
  }

  /// Whether the deciding controller sends camera frames in the current orientation. Always `true` on a pad.
  var capturesNow: Bool {
    idiom == .pad || tree[deciding.controller].captureEnabledIn.contains(state.appOrientation)
  }

  /// Updates `deciding`.
  mutating func refindDeciding() {
    deciding = tree.deciding(from: state.decidingPresentation?.index ?? tree.root)
  }
}

extension InterfaceOrientationMask {
  /// Returns the preferred orientation of a controller without `preferred`: the current orientation if it
  /// is in the mask, else portrait if it is, else the one with the lowest raw value.
  fileprivate func fallback(from current: InterfaceOrientation) -> InterfaceOrientation? {
    contains(current) ? current : contains(.portrait) ? .portrait : lowest
  }
}
