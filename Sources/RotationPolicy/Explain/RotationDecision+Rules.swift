internal import UprightOrientation

extension RotationDecision {
  /// The sentences for the rule that applied to this event.
  var ruleSentences: [String] {
    let name = Phrase.name(why.controller)
    let asked = target?.name ?? "an orientation"
    switch why.rule {
    case .flat:
      return numbered("the device is \(Self.flatWord(why.device)), which requests no rotation.")
    case .held:
      let holder =
        why.hold.isManual
        ? "a manual rotation" : "a presentation shown in its preferred orientation"
      return numbered("\(holder) holds until the device moves to another upright orientation.")
    case .rotationLocked: return numbered("the system rotation lock is on.")
    case .applicationInactive:
      return numbered("the app is inactive, and \(name) ignores rotation meanwhile.")
    case .autorotationDisabled:
      return numbered(
        why.autorotation == .manual
          ? "\(name) rotates only when the app itself asks (shouldAutorotate is \"manual\")."
          : "\(name) answers no to shouldAutorotate.")
    case .nothingInCommon:
      return numbered("\(name) and the application have no orientation in common.")
    case .notSupported: return numbered("\(asked) is not allowed.")
    case .current: return numbered("the app is already in \(asked).")
    case .turned:
      return numbered("\(asked) is allowed and is not the current orientation (\(from.name)).")
    case .shown, .shownInPreferred, .showingNothingInCommon, .preferredNotSupported:
      return showingSentences(name)
    case .treeOnly:
      return [
        "The controller tree changes, but \(name) still decides, so no rotation is requested."
      ]
    case .nothingToRemove: return [(warning ?? "Nothing to remove").capitalisedFirst + "."]
    case .stateOnly: return [stateSentence]
    case .repeated: return ["The state did not change."]
    case .reading:
      return [
        "After this reading the device is still \(why.device.name), so no rotation is requested."
      ]
    case .superseded:
      return [
        "A rotation was in progress, and a later event requested another: only the latest counts."
      ]
    }
  }

  /// Returns `Rule 8 of automatic rotation: ...`, preceded by the reason for the evaluation if the device
  /// did not cause it.
  private func numbered(_ text: String) -> [String] {
    let rule = why.rule.number.map { "Rule \($0)" } ?? "A rule"
    switch event.action {
    case .rotate: return ["\(rule) of manual rotation: \(text)"]
    case .lock(true): return ["Locking a phone requests portrait.", "\(rule): \(text)"]
    case .lock(false):
      return [
        "Unlocking evaluates the device orientation.", "\(rule) of automatic rotation: \(text)",
      ]
    case .active:
      return [
        "Becoming active evaluates the device orientation.",
        "\(rule) of automatic rotation: \(text)",
      ]
    default: return ["\(rule) of automatic rotation: \(text)"]
    }
  }

  private static func flatWord(_ device: DeviceOrientation) -> String {
    device == .unknown ? "in an unknown orientation" : "\(device.name)"
  }

  private var stateSentence: String {
    switch event.action {
    case .set: return "Changed answers take effect at the next evaluation."
    case .setApplication: return "The changed application mask takes effect at the next evaluation."
    case .focus: return "The crop moves; no rotation is requested."
    case .active: return "Resigning active requests no rotation."
    case .lock:
      return from == .portrait
        ? "The app is already in portrait, in which a phone locks."
        : "A pad is locked in its current orientation."
    default: return "No rotation is requested."
    }
  }
}

extension RotationDecision {
  /// Returns the sentences for the row of `RotationReducer.place(_:)` that applied, and for the re-evaluation
  /// after it.
  private func showingSentences(_ name: String) -> [String] {
    switch why.rule {
    case .showingNothingInCommon:
      return [
        "Showing, row 1: \(name) and the application have no orientation in common, and \(name)"
          + " autorotates."
      ]
    case .preferredNotSupported:
      guard why.controllerMask != nil else { return ["\(name) is asked, but gives no answer."] }
      let row = why.allowed.isEmpty ? 3 : 4
      return [
        "Showing, row \(row): the orientation that \(name) prefers"
          + (why.preferred.map { ", \($0.name)," } ?? "") + " is not one that it supports."
      ]
    case .shownInPreferred:
      return [
        "Showing, row 2: \(name) and the application have no orientation in common, but \(name)"
          + " does not autorotate, so it is shown in the orientation it prefers, \(to.name)."
      ]
    default:
      var sentences = [placedSentence(name)]
      if let rule = why.show?.reevaluation { sentences.append(reevaluationSentence(rule)) }
      return sentences
    }
  }

  private func placedSentence(_ name: String) -> String {
    guard let show = why.show else { return "\(name) is shown." }
    let table = why.semantics == .ios5 ? "iOS 5 shows" : "Showing, row 5:"
    if show.holds {
      return "\(table) \(name) in the orientation it prefers, \(show.placed.name), which holds"
        + " until the device moves to another upright orientation, or it is dismissed."
    }
    if show.placed == from {
      var text = "\(table) \(name) where the app is, in \(from.name)"
      if case .present = event.action, let preferred = why.preferred, why.semantics == .ios6,
        !why.allowed.contains(preferred)
      {
        text += ", because \(preferred.name), which it prefers, is not allowed"
      }
      return text + "."
    }
    return "\(table) \(name) in \(show.placed.name), because "
      + (why.allowed.contains(from) ? "it prefers that." : "\(from.name) is not allowed.")
  }

  private func reevaluationSentence(_ rule: RotationRule) -> String {
    let device = why.device.name
    switch rule {
    case .turned: return "Then it follows the device, which is held \(device) (rule 8)."
    case .current: return "This matches the device orientation (rule 8)."
    case .flat: return "The device, \(device), requests no rotation (rule 1)."
    case .held: return "It does not follow the device, \(device), during a hold (rule 2)."
    case .rotationLocked:
      return "It does not follow the device, \(device): the rotation lock is on (rule 3)."
    case .applicationInactive:
      return "It does not follow the device, \(device), while the app is inactive (rule 4)."
    case .notSupported:
      return "It does not follow the device, \(device): that is not allowed (rule 7)."
    default: return "It does not follow the device, \(device)."
    }
  }
}

extension String {
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
