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

  func why(_ rule: RotationRule) -> RotationDecision.Why {
    RotationDecision.Why(
      rule: rule, applicationMask: applicationMask, controllerMask: deciding.mask,
      controller: tree[deciding.controller].name, containers: deciding.containers,
      isPresented: state.decidingPresentation != nil)
  }
}
