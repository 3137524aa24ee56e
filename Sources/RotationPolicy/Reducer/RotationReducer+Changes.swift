internal import UprightOrientation

extension RotationReducer {
  /// Changes the tree. If this changes the deciding controller, the new one is shown. If UIKit would raise an
  /// exception, the change is undone.
  mutating func perform(
    _ change: ControllerTree.Change, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    let before = (tree: tree, state: state, deciding: deciding)
    if let warning = apply(change) {
      keep(.nothingToRemove, for: ask, warning: warning, into: &outputs)
      return
    }
    refindDeciding()
    guard deciding.controller != before.deciding.controller || !deciding.isFound else {
      keep(.treeOnly, for: ask, into: &outputs)
      return
    }
    var showing = ShowReason.other
    if case .present(let index, _) = change { showing = .presented(index) }
    switch judge(showing) {
    case .invalid(let reason, let rule):
      // `why` describes the controller that caused the exception, `allowed` the one that decides after the
      // undo.
      let why = self.why(rule)
      (tree, state, deciding) = before
      outputs.append(decision(on: ask, .invalid, why, reason: reason))
    case .settled(let settlement): show(settlement, showing, for: ask, into: &outputs)
    }
  }

  /// Applies the result of showing a controller. It was validated now, even during a rotation, but a resulting
  /// rotation waits for the one in progress.
  private mutating func show(
    _ settlement: ShowResult, _ showing: ShowReason, for ask: IndexedEvent,
    into outputs: inout [RotationOutput]
  ) {
    if state.turn != nil, settlement.to != state.appOrientation {
      wait(.show(showing), for: ask, into: &outputs)
    } else {
      settle(settlement, for: ask, into: &outputs)
    }
    answerCapture(into: &outputs)
  }

  /// Continues with the policy of `other`, and shows its root controller.
  mutating func adopt(
    _ other: RotationReducer, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    (idiom, duration, tree) = (other.idiom, other.duration, other.tree)
    (application, applicationMask) = (other.application, other.applicationMask)
    state.presentations.removeAll()
    state.hold.presentations = 0
    refindDeciding()
    switch judge(.other) {
    case .settled(let settlement): show(settlement, .other, for: ask, into: &outputs)
    case .invalid:
      // Doesn't happen: it depends on the document alone, and `RotationReducer.init` would have thrown it.
      keep(.stateOnly, for: ask, into: &outputs)
    }
  }

  /// Applies the change. Returns a warning if there is nothing to change.
  private mutating func apply(_ change: ControllerTree.Change) -> String? {
    switch change {
    case .present(let index, let style):
      state.presentations.append(
        .init(
          controller: tree[index].name, style: style,
          isFullScreen: idiom == .phone || style == .fullScreen, index: index))
    case .dismiss:
      guard !state.presentations.isEmpty else { return "nothing is presented to dismiss" }
      state.removeTopmost()
    case .push(let child, let container): tree.push(child, onto: container)
    case .pop(let container):
      guard tree.pop(container) else {
        return "nothing to pop: \(quoted(tree[container].name)) keeps its last controller"
      }
    case .select(let child, let container): tree.select(child, in: container)
    }
    return nil
  }

  /// Applies the result of showing a controller: the hold, then the rotation.
  mutating func settle(
    _ settlement: ShowResult, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    if settlement.mustTurn { state.release() }
    if settlement.holds { state.holdDeciding() }
    let why = why(settlement.rule, show: settlement.show)
    if settlement.to == state.appOrientation {
      outputs.append(decision(on: ask, .keep, why, target: settlement.target))
    } else {
      turn(to: settlement.to, for: ask, why: why, into: &outputs)
    }
  }
}
