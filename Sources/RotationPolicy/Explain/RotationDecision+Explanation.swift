public import UprightOrientation

extension RotationDecision {
  /// A short description of the decision: `rotate to landscapeRight`, `refuse: notSupported`.
  public var headline: String {
    switch outcome {
    case .rotate: "rotate to \(to.name)"
    case .keep: reason.map { "keep \(to.name) (\($0))" } ?? "keep \(to.name)"
    case .refuse: "refuse: \(reason ?? "")"
    case .invalid: "invalid: \(Self.invalidName)"
    }
  }

  /// The explanation of the decision, in sentences: the rule that applied, the values that it used, the
  /// deciding controller, and the containers on the way to it.
  public var explanation: String {
    var sentences: [String] = []
    if let waited { sentences.append(waited) }
    sentences.append(contentsOf: ruleSentences)
    if asksTheController { sentences.append(why.whoDecides) }
    if outcome == .invalid {
      sentences.append(
        "UIKit would raise \(Self.invalidName); here the event is reported"
          + (undoesTheTree ? " and undone" : "") + ", and the app stays in \(to.name).")
    }
    if let turn, turn.ends > turn.starts {
      sentences.append("The rotation ends at \(Phrase.seconds(turn.ends)) (didRotate).")
    }
    return sentences.joined(separator: " ")
  }

  private var waited: String? {
    guard decidedAt > at else { return nil }
    let until = Phrase.seconds(decidedAt)
    return why.rule == .superseded
      ? nil : "A rotation was in progress, so this was decided at its didRotate, at \(until)."
  }

  private var undoesTheTree: Bool {
    switch event.action {
    case .present, .dismiss, .push, .pop, .select: decidedAt == at
    default: false
    }
  }

  /// Whether the decision depends on the answers of the deciding controller.
  private var asksTheController: Bool {
    switch why.rule {
    case .flat, .held, .rotationLocked, .stateOnly, .repeated, .reading, .nothingToRemove,
      .superseded, .treeOnly:
      false
    default: true
    }
  }
}

extension RotationDecision.Why {
  /// The deciding controller and the masks: "`list` decides, asked through `tabs` > `live`: it supports ...".
  var whoDecides: String {
    var text = "\(Phrase.name(controller)) decides"
    if !containers.isEmpty {
      text += ", asked through " + containers.map(Phrase.name).joined(separator: " > ")
    }
    if isPresented { text += containers.isEmpty ? ", presented full screen" : " of a presentation" }
    guard let controllerMask else {
      return text + ": it can't answer, because a container has no child to ask."
    }
    if semantics == .ios5 {
      return text + ": it accepts \(Phrase.mask(controllerMask))"
        + " (iOS 5 asks only the controller)."
    }
    if controllerMask == applicationMask {
      return text + ": it supports, and the application allows, \(Phrase.mask(allowed))."
    }
    return text + ": it supports \(Phrase.mask(controllerMask)); the application allows "
      + "\(Phrase.mask(applicationMask)); both allow \(Phrase.mask(allowed))."
  }

  /// Returns the explanation of the start, in sentences: the deciding controller and the resulting
  /// orientation.
  public func startExplanation(in orientation: InterfaceOrientation) -> String {
    let device =
      device == .unknown
      ? "the device orientation is unknown" : "the device is held \(device.name)"
    return "\(whoDecides) It is shown in \(orientation.name), while \(device)."
  }
}
