internal import UprightOrientation

extension RotationReducer {
  /// Decides `keep` for an event that requests no rotation.
  mutating func keep(
    _ rule: RotationRule, for ask: IndexedEvent, warning: String? = nil,
    into outputs: inout [RotationOutput]
  ) {
    decide(
      ask, .keep, rule, reason: nil, target: nil, from: state.appOrientation, warning: warning,
      into: &outputs)
  }

  /// Outputs the decision on an event. The state must already be the one after the event.
  func decide(
    _ ask: IndexedEvent, _ outcome: RotationDecision.Outcome, _ rule: RotationRule, reason: String?,
    target: InterfaceOrientation?, from: InterfaceOrientation, turn: RotationTurn? = nil,
    warning: String? = nil, why: RotationDecision.Why? = nil,
    into outputs: inout [RotationOutput]
  ) {
    outputs.append(
      .decision(
        RotationDecision(
          eventIndex: ask.index, event: ask.event, decidedAt: max(clock, ask.event.at),
          outcome: outcome, reason: reason, target: target, from: from, to: state.appOrientation,
          allowedMask: allowedMask, turn: turn, warning: warning, why: why ?? self.why(rule))))
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
