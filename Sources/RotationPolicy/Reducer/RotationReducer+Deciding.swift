internal import Orientation

extension RotationReducer {
  /// Answers `keep` without a question having been asked.
  mutating func keep(
    _ rule: RotationRule, for ask: Ask, warning: String? = nil,
    into outputs: inout [RotationOutput]
  ) {
    decide(
      ask, .keep, rule, reason: nil, target: nil, from: state.appOrientation, warning: warning,
      into: &outputs)
  }

  /// Answers an event; the state is already what it is after it.
  func decide(
    _ ask: Ask, _ outcome: RotationDecision.Outcome, _ rule: RotationRule, reason: String?,
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
