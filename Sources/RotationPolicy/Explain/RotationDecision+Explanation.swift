public import Orientation

extension RotationDecision {
  /// The decision in a few words: `rotate to landscapeRight`, `refuse: notSupported`.
  public var headline: String {
    switch outcome {
    case .rotate: "rotate to \(to.name)"
    case .keep: reason.map { "keep \(to.name) (\($0))" } ?? "keep \(to.name)"
    case .refuse: "refuse: \(reason ?? "")"
    case .invalid: "invalid: \(Self.invalidName)"
    }
  }

  /// Why, in sentences: the rule that answered, what it looked at, and who decided through which
  /// containers.
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
      sentences.append("The turn takes until \(Phrase.seconds(turn.ends)) (didRotate).")
    }
    return sentences.joined(separator: " ")
  }

  private var waited: String? {
    guard decidedAt > at else { return nil }
    let until = Phrase.seconds(decidedAt)
    return why.rule == .superseded
      ? nil : "A turn was in flight, so this was answered at its didRotate, at \(until)."
  }

  private var undoesTheTree: Bool {
    switch event.action {
    case .present, .dismiss, .push, .pop, .select: decidedAt == at
    default: false
    }
  }

  /// Whether the deciding controller's answers had any part in it.
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
  /// `list` decides, asked through `tabs` > `live`: it supports portrait; ...
  var whoDecides: String {
    var text = "\(Phrase.name(controller)) decides"
    if !containers.isEmpty {
      text += ", asked through " + containers.map(Phrase.name).joined(separator: " > ")
    }
    if isPresented { text += containers.isEmpty ? ", presented full screen" : " of a presentation" }
    guard let controllerMask else {
      return text + ": it cannot answer, for a container below it has no child to ask."
    }
    if semantics == .ios5 {
      return text + ": it accepts \(Phrase.mask(controllerMask))"
        + " (iOS 5 asks nobody else)."
    }
    if controllerMask == applicationMask {
      return text + ": it supports, and the application allows, \(Phrase.mask(allowed))."
    }
    return text + ": it supports \(Phrase.mask(controllerMask)); the application allows "
      + "\(Phrase.mask(applicationMask)); both allow \(Phrase.mask(allowed))."
  }

  /// The start in sentences: who decides, and where the app stands because of it.
  public func startExplanation(in orientation: InterfaceOrientation) -> String {
    let device =
      device == .unknown ? "the device says nothing" : "the device is held \(device.name)"
    return "\(whoDecides) It is shown in \(orientation.name), while \(device)."
  }
}
