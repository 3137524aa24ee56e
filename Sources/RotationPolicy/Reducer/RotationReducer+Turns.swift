internal import UprightOrientation

extension RotationReducer {
  /// A request of an event.
  enum Request: Sendable {
    case turn(InterfaceOrientation, RequestSource)
    case show(ShowReason)
  }

  /// Decides on the request now, or at the `didRotate` of the rotation in progress.
  mutating func pose(
    _ question: Request, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    if state.turn == nil {
      answer(question, for: ask, into: &outputs)
    } else {
      wait(question, for: ask, into: &outputs)
    }
  }

  /// Stores the request until the rotation in progress ends. An earlier waiting request is superseded.
  mutating func wait(
    _ question: Request, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    if let pending {
      if case .show = pending.question { owesShowing = true }
      outputs.append(
        decision(
          on: pending.ask, .keep, why(.superseded), reason: "superseded",
          target: pending.question.target))
    }
    pending = PendingRequest(ask: ask, question: question)
  }

  private mutating func answer(
    _ question: Request, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    let owesShowing = self.owesShowing
    self.owesShowing = false
    switch question {
    case .turn(let target, let asking):
      var placed: ShowResult?
      if owesShowing, case .settled(let settlement) = place(.other) { placed = settlement }
      answer(target, asking, after: placed, for: ask, into: &outputs)
    case .show(let showing):
      switch judge(effective(showing)) {
      case .settled(let settlement): settle(settlement, for: ask, into: &outputs)
      case .invalid(let reason, let rule):
        // The change was valid when it was made. An answer has changed since, so the change is not undone.
        outputs.append(decision(on: ask, .invalid, why(rule), reason: reason))
      }
    }
  }

  /// Decides on a request to rotate. `placed` is the placement of a superseded show, which is applied first.
  /// Both together make one rotation.
  private mutating func answer(
    _ target: InterfaceOrientation, _ asking: RequestSource, after placed: ShowResult?,
    for ask: IndexedEvent,
    into outputs: inout [RotationOutput]
  ) {
    if let placed, placed.mustTurn { state.release() }
    let from = state.appOrientation
    let current = placed?.to ?? from
    let verdict = verdict(
      for: target, asking: asking, current: current, isHeld: state.hold.isOn)
    switch (asking, verdict.outcome) {
    case (.manual, .rotate), (.manual, .keep): state.hold.isManual = true
    case (.lock, .rotate): state.release()
    default: break
    }
    let to = verdict.outcome == .rotate ? target : current
    if to != from {
      let why =
        verdict.outcome == .rotate
        ? self.why(verdict.rule) : self.why(placed?.rule ?? .shown, show: placed?.show)
      turn(to: to, for: ask, why: why, into: &outputs)
    } else {
      // A placement and a rotation back cancel each other out. The decision is `keep`.
      outputs.append(
        decision(
          on: ask, verdict.outcome == .rotate ? .keep : verdict.outcome, why(verdict.rule),
          reason: verdict.reason, target: target))
    }
  }

  /// Decides `rotate` and starts the rotation. A cut ends immediately.
  mutating func turn(
    to target: InterfaceOrientation, for ask: IndexedEvent, why: RotationDecision.Why,
    into outputs: inout [RotationOutput]
  ) {
    let turn = RotationTurn(
      eventIndex: ask.index, from: state.appOrientation, to: target, starts: clock,
      ends: Self.end(of: duration, from: clock), receivers: deciding.receivers)
    state.appOrientation = target
    outputs.append(decision(on: ask, .rotate, why, target: target, turn: turn))
    outputs.append(.phase(turn.phase(.willRotate)))
    outputs.append(.phase(turn.phase(.layout)))
    outputs.append(.phase(turn.phase(.willAnimate)))
    answerCapture(into: &outputs)
    if duration > 0 { state.turn = turn } else { finish(turn, into: &outputs) }
  }

  /// Ends the rotation in progress and decides on the request that waited for it.
  mutating func complete(_ turn: RotationTurn, into outputs: inout [RotationOutput]) {
    state.turn = nil
    clock = max(clock, turn.ends)
    finish(turn, into: &outputs)
    if let pending {
      self.pending = nil
      answer(pending.question, for: pending.ask, into: &outputs)
    }
  }

  private mutating func finish(_ turn: RotationTurn, into outputs: inout [RotationOutput]) {
    state.layoutOrientation = turn.to
    outputs.append(.phase(turn.phase(.didRotate)))
    outputs.append(.layout(at: turn.ends, turn.to))
  }

  mutating func answerCapture(into outputs: inout [RotationOutput]) {
    let captures = capturesNow
    guard captures != state.captureEnabled else { return }
    state.captureEnabled = captures
    outputs.append(.captureEnabled(at: clock, captures))
  }

  /// Returns the end time, rounded to nanoseconds, so that 0.1 + 0.2 is due at an event at 0.3.
  private static func end(of duration: Double, from start: Double) -> Double {
    duration == 0 ? start : max(start, ((start + duration) * 1e9).rounded() / 1e9)
  }
}

extension RotationReducer.Request {
  var target: InterfaceOrientation? {
    switch self {
    case .turn(let target, _): target
    case .show: nil
    }
  }
}
