internal import Orientation

extension RotationDecision {
  /// What the rule that answered says, applied to this event.
  var ruleSentences: [String] {
    let name = Phrase.name(why.controller)
    let asked = target?.name ?? "an orientation"
    switch why.rule {
    case .flat:
      return numbered("the device is \(Self.flatWord(why.device)), which asks for no turn.")
    case .held:
      let holder =
        why.hold.isManual ? "a manual turn" : "a presentation shown in its preferred orientation"
      return numbered("\(holder) holds until the device moves to another upright orientation.")
    case .rotationLocked: return numbered("the system's rotation lock is on.")
    case .applicationInactive:
      return numbered("the app is inactive, and \(name) ignores rotation meanwhile.")
    case .autorotationDisabled:
      return numbered(
        why.autorotation == .manual
          ? "\(name) turns only when the app itself asks (shouldAutorotate is \"manual\")."
          : "\(name) answers no to shouldAutorotate.")
    case .nothingInCommon:
      return numbered("\(name) and the application have no orientation in common.")
    case .notSupported: return numbered("\(asked) is not allowed.")
    case .current: return numbered("the app is in \(asked) already.")
    case .turned:
      return numbered("\(asked) is allowed and is not the current orientation (\(from.name)).")
    case .shown, .shownInPreferred, .showingNothingInCommon, .preferredNotSupported:
      return showingSentences(name)
    case .treeOnly:
      return [
        "The tree of controllers changes, but \(name) decides as before, so nothing is asked."
      ]
    case .nothingToRemove: return [(warning ?? "Nothing to remove").capitalisedFirst + "."]
    case .stateOnly: return [stateSentence]
    case .repeated: return ["That was so already."]
    case .reading:
      return [
        "After this reading the device counts as \(why.device.name), as before: nothing is asked."
      ]
    case .superseded:
      return [
        "A turn was in flight, and a later event asked for a turn too: only the latest is answered."
      ]
    }
  }

  /// `Rule 8 of the automatic turn: ...`, and for a re-evaluation why one is asked at all.
  private func numbered(_ text: String) -> [String] {
    let rule = why.rule.number.map { "Rule \($0)" } ?? "A rule"
    switch event.action {
    case .rotate: return ["\(rule) of the manual turn: \(text)"]
    case .lock(true): return ["A phone's lock asks for portrait.", "\(rule): \(text)"]
    case .lock(false):
      return [
        "With the lock off the device is asked again.", "\(rule) of the automatic turn: \(text)",
      ]
    case .active:
      return ["An active app asks the device again.", "\(rule) of the automatic turn: \(text)"]
    default: return ["\(rule) of the automatic turn: \(text)"]
    }
  }

  private static func flatWord(_ device: DeviceOrientation) -> String {
    device == .unknown ? "in an unknown orientation" : "\(device.name)"
  }

  private var stateSentence: String {
    switch event.action {
    case .set: return "Answers change without a question: they count at the next one."
    case .setApplication: return "The application's mask changes without a question."
    case .active: return "Resigning active asks for no turn."
    case .lock:
      return from == .portrait
        ? "The app is in portrait, where a phone locks." : "A pad is locked as it stands."
    default: return "Nothing is asked."
    }
  }
}

extension RotationDecision {
  /// The row of the showing table, and the re-evaluation after it.
  private func showingSentences(_ name: String) -> [String] {
    switch why.rule {
    case .showingNothingInCommon:
      return [
        "Showing, row 1: \(name) and the application have no orientation in common, and \(name)"
          + " autorotates."
      ]
    case .preferredNotSupported:
      guard why.controllerMask != nil else { return ["\(name) is asked, but nobody answers."] }
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
        text += ", for \(preferred.name), which it prefers, is not allowed"
      }
      return text + "."
    }
    return "\(table) \(name) in \(show.placed.name), for "
      + (why.allowed.contains(from) ? "it prefers that." : "\(from.name) is not allowed.")
  }

  private func reevaluationSentence(_ rule: RotationRule) -> String {
    let device = why.device.name
    switch rule {
    case .turned: return "Then it catches up with the device, which is held \(device) (rule 8)."
    case .current: return "That is how the device is held (rule 8)."
    case .flat: return "The device, \(device), asks for nothing more (rule 1)."
    case .held: return "It does not catch up with the device, \(device), while that holds (rule 2)."
    case .rotationLocked:
      return "It does not catch up with the device, \(device): the rotation lock is on (rule 3)."
    case .applicationInactive:
      return "It does not catch up with the device, \(device), while the app is inactive (rule 4)."
    case .notSupported:
      return "It does not follow the device, \(device): that is not allowed (rule 7)."
    default: return "It does not follow the device, \(device)."
    }
  }
}

extension String {
  fileprivate var capitalisedFirst: String { prefix(1).uppercased() + dropFirst() }
}
