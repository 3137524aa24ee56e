internal import Orientation

extension RotationReducer {
  /// How the controller that now decides came to do so.
  enum Showing: Sendable {
    /// The presentation of the controller with this index.
    case presented(Int)
    /// Root, push, pop, select, dismiss.
    case other
  }

  /// Where a show puts the app, before and after it re-evaluates.
  struct Settlement {
    /// The orientation it is shown in, and after re-evaluating.
    var to: InterfaceOrientation
    /// The orientation that showing alone put it in.
    let placed: InterfaceOrientation
    /// Whether showing alone had to turn: that ends a hold.
    let mustTurn: Bool
    /// Whether the presentation's explicit preferred now holds.
    let holds: Bool
    /// What the show asked for, or its re-evaluation did; nil where neither.
    var target: InterfaceOrientation?
    /// Whether a re-evaluation follows.
    let reevaluates: Bool
    /// The rule that answered the re-evaluation.
    var reevaluation: RotationRule?
    let rule: RotationRule

    var show: RotationDecision.Why.Show {
      .init(placed: placed, holds: holds, reevaluation: reevaluation)
    }
  }

  enum Judgement {
    case invalid(reason: String, rule: RotationRule)
    case settled(Settlement)
  }

  /// Spec 2, "Showing": the table, then the re-evaluation. Changes nothing.
  func judge(_ showing: Showing) -> Judgement {
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

  /// The five rows of the table.
  func place(_ showing: Showing) -> Judgement {
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
        Settlement(
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
      Settlement(
        to: placed, placed: placed, mustTurn: placed != current, holds: holds,
        target: holds ? placed : nil,
        reevaluates: !allowed.isEmpty && controller.autorotation == .yes,
        rule: allowed.isEmpty ? .shownInPreferred : .shown))
  }

  /// A show's kind at the time it is answered: a presentation that something else covers or that is
  /// gone by then has nothing to be presented in.
  func effective(_ showing: Showing) -> Showing {
    guard case .presented(let index) = showing, state.decidingPresentation?.index == index else {
      return .other
    }
    return showing
  }

  /// Whether the deciding controller sends the camera in the present orientation; a pad always does.
  var capturesNow: Bool {
    idiom == .pad || tree[deciding.controller].captureEnabledIn.contains(state.appOrientation)
  }

  /// Finds out anew who decides.
  mutating func refindDeciding() {
    deciding = tree.deciding(from: state.decidingPresentation?.index ?? tree.root)
  }
}

extension InterfaceOrientationMask {
  /// What an absent `preferred` answers: the current orientation, else portrait, else the lowest
  /// raw value, of those in the mask.
  fileprivate func fallback(from current: InterfaceOrientation) -> InterfaceOrientation? {
    contains(current) ? current : contains(.portrait) ? .portrait : lowest
  }
}
