internal import UprightOrientation

/// The wording of masks, names and times in explanations.
enum Phrase {
  /// Returns a mask as text: `portrait and landscapeRight`, `all but upside down`, or `no orientation` if
  /// it is empty.
  static func mask(_ mask: InterfaceOrientationMask) -> String {
    let orientations = mask.orientations
    switch InterfaceOrientationMask(orientations.map { .init($0) }) {
    case []: return "no orientation"
    case .all: return "all four"
    case .allButUpsideDown: return "all but upside down"
    case .landscape: return "both landscapes"
    default:
      let names = orientations.map(\.name)
      guard let last = names.last, names.count > 1 else { return names.joined() }
      return names.dropLast().joined(separator: ", ") + " and " + last
    }
  }

  /// Returns the name of a controller in backticks, on one line, with control characters escaped.
  static func name(_ name: String) -> String { "`" + quoted(name).dropFirst().dropLast() + "`" }

  /// Returns a time such as `3.200 s`.
  static func seconds(_ value: Double) -> String { Milliseconds.text(value) + " s" }
}

/// The formatting of times for people.
package enum Milliseconds {
  /// Returns seconds with three decimals: `3.200`. Values that are not valid times of events are formatted
  /// like Swift does.
  package static func text(_ seconds: Double) -> String {
    guard seconds >= 0, seconds <= RotationEvent.latest * 2 else { return "\(seconds)" }
    let whole = Int(clamping: seconds * 1000)
    let thousandths = String(1000 + whole % 1000).dropFirst()
    return "\(whole / 1000).\(thousandths)"
  }
}

extension RotationEvent {
  /// A short description of the event: `device landscapeLeft`, `push detail onto live`.
  package var phrase: String {
    switch action {
    case .device(let orientation): return "device \(orientation.name)"
    case .gravity(let x, let y, let z): return "gravity \(x), \(y), \(z)"
    case .focus(let x, let y): return "focus \(x), \(y)"
    case .rotate(let orientation): return "the app asks for \(orientation.name)"
    case .lock(let flag): return flag ? "rotation lock on" : "rotation lock off"
    case .active(let flag): return flag ? "the app becomes active" : "the app resigns active"
    case .present(let name, let style):
      return "present \(Phrase.name(name))"
        + (style.map { $0 == .fullScreen ? "" : " as a \($0.rawValue)" } ?? "")
    case .dismiss: return "dismiss"
    case .push(let name, let onto): return "push \(Phrase.name(name)) onto \(Phrase.name(onto))"
    case .pop(let name): return "pop \(Phrase.name(name))"
    case .select(let name, let tab):
      return "select \(Phrase.name(name)) in \(Phrase.name(tab))"
    case .set, .setApplication: return Self.setPhrase(payload)
    case .policy: return "another policy"
    }
  }

  /// ``set `player`: supported landscape``
  private static func setPhrase(_ payload: JSONValue) -> String {
    guard case .object(let members) = payload, case .string(let name)? = members.first?.value else {
      return payload.compact
    }
    let answers = members.dropFirst().map { member in
      let value: String
      switch member.value {
      case .string(let text): value = text
      case .array(let words):
        let texts = words.map { if case .string(let text) = $0 { text } else { $0.compact } }
        value = texts.isEmpty ? "none" : texts.joined(separator: " and ")
      default: value = member.value.compact
      }
      return "\(member.key) \(value)"
    }
    return "set \(Phrase.name(name)): " + answers.joined(separator: ", ")
  }
}
