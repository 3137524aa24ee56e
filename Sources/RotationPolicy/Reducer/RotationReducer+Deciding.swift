internal import UprightOrientation

extension RotationReducer {
  /// Decides `keep` for an event that requests no rotation.
  mutating func keep(
    _ rule: RotationRule, for ask: IndexedEvent, warning: String? = nil,
    into outputs: inout [RotationOutput]
  ) {
    outputs.append(decision(on: ask, .keep, why(rule), warning: warning))
  }

  /// Returns the decision on an event. The state must already be the one after the event.
  ///
  /// - Parameter turn: The rotation that the decision starts.
  func decision(
    on ask: IndexedEvent, _ outcome: RotationDecision.Outcome, _ why: RotationDecision.Why,
    reason: String? = nil, target: InterfaceOrientation? = nil, turn: RotationTurn? = nil,
    warning: String? = nil
  ) -> RotationOutput {
    .decision(
      RotationDecision(
        eventIndex: ask.index, event: ask.event, decidedAt: max(clock, ask.event.at),
        outcome: outcome, reason: reason, target: target, from: turn?.from ?? state.appOrientation,
        to: state.appOrientation, allowedMask: allowedMask, turn: turn, warning: warning, why: why))
  }

  func why(
    _ rule: RotationRule, show: RotationDecision.Why.Show? = nil
  ) -> RotationDecision.Why {
    let controller = tree[deciding.controller]
    return RotationDecision.Why(
      rule: rule, applicationMask: applicationMask, controllerMask: deciding.mask,
      controller: controller.name, containers: deciding.containers,
      isPresented: state.decidingPresentation != nil, semantics: tree.semantics,
      autorotation: controller.autorotation, preferred: controller.preferred, device: state.device,
      hold: state.hold, show: show)
  }
}
