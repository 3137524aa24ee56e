internal import UprightPolicy
internal import Upright

/// The API's `options`: the options of a transcode, by name.
enum SessionOptions {
  /// The options that a live session supports, by name. File names refer to the data folder.
  private static let all = Dictionary(
    uniqueKeysWithValues: TranscodeOption.all.lazy.filter { $0.scope != .files }.map {
      ($0.name, $0)
    })

  /// The names of the options that can change while a session runs.
  static let changeable = Set(all.values.lazy.filter { $0.scope == .change }.map(\.name))

  /// Whether options ask for two canvases.
  static func isDual(_ options: JSONValue) -> Bool {
    guard case .object(let members) = options else { return false }
    return members.contains {
      $0.key == "canvas" && $0.value.text?.lowercased() == CanvasRule.dual.rawValue
    }
  }

  private static func option(_ name: String) throws(Refusal) -> TranscodeOption {
    guard let option = all[name] else {
      throw Refusal("options: \(printable(name)) isn't an option of a live session")
    }
    return option
  }

  /// Checks that all members of a patch can change while a session runs.
  ///
  /// - Throws: `Problem` 400 if it isn't an object or is empty, 409 for an option that can't change; `Refusal` for
  ///   others.
  static func check(patch value: JSONValue) throws {
    guard case .object(let members) = value, !members.isEmpty else {
      throw Problem.badRequest("options: isn't an object with members")
    }
    for member in members where !changeable.contains(member.key) {
      _ = try option(member.key)
      throw Problem.conflict(
        "options: \(member.key) can't change while the session runs; only "
          + changeable.sorted().joined(separator: ", ") + " can")
    }
  }

  /// Returns options with the members of a patch replaced; `null` removes one (RFC 7396).
  static func merged(_ value: JSONValue, with patch: JSONValue) -> JSONValue {
    guard case .object(var members) = value, case .object(let changes) = patch else { return value }
    for change in changes {
      members.removeAll { $0.key == change.key }
      if change.value != .null { members.append(change) }
    }
    return .object(members)
  }

  /// The allowed encoder options. Some other encoder options name files to write.
  private static let encoderNames: Set<String> = [
    "tune", "profile", "level", "bf", "refs", "maxrate", "bufsize", "keyint_min", "sc_threshold",
    "rc-lookahead", "aq-mode", "coder", "cpu-used", "row-mt", "tile-columns",
  ]

  /// Reads options. File names become paths in the data folder.
  ///
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if an option or a file isn't allowed,
  ///   `UprightError` `usage` for an invalid value.
  static func read(_ value: JSONValue, _ rules: AddressRules) throws -> TranscodeOptions {
    guard case .object(let members) = value else {
      throw Problem.badRequest("options: isn't an object")
    }
    let checked = try members.map { member in
      JSONValue.Member(member.key, try self.checked(member.key, member.value, rules))
    }
    do throws(UprightError) { return try TranscodeOptions(json: .object(checked)) } catch {
      throw UprightError(
        error.code, error.message, at: "options.\(error.location)", remedy: error.remedy)
    }
  }

  private static func checked(
    _ name: String, _ value: JSONValue, _ rules: AddressRules
  ) throws -> JSONValue {
    let form = try option(name).form
    switch value {
    case .bool where form == .flag: return value
    case .integer, .number, .string: return .string(try checked(name, value.digits, rules))
    case .array(let values) where form == .texts:
      return .array(try values.map { try checked(name, $0, rules) })
    default:
      let kind = form == .flag ? "a boolean" : "a string or a number"
      throw Problem.badRequest(
        "options: \(name) must be \(kind)\(form == .texts ? ", or an array of them" : "")")
    }
  }

  private static func checked(
    _ name: String, _ text: String, _ rules: AddressRules
  ) throws(Refusal) -> String {
    switch name {
    case "slate": return try file(text, rules)
    case "overlay":
      guard let at = text.lastIndex(of: "@") else { return text }
      return try file(String(text[..<at]), rules) + text[at...]
    case "encoder-options":
      for pair in text.split(separator: ":") {
        let key = String(pair.prefix { $0 != "=" })
        guard encoderNames.contains(key) else {
          throw Refusal("encoder-options: \(printable(key)) isn't allowed for a live session")
        }
      }
      return text
    default: return text
    }
  }

  private static func file(_ name: String, _ rules: AddressRules) throws(Refusal) -> String {
    guard AddressRules.isName(name) else {
      throw Refusal("\(printable(name)) isn't the name of a file in the data folder")
    }
    return try rules.file("file:\(name)")
  }
}

extension JSONValue {
  /// The text of a string, or the digits of a number.
  fileprivate var digits: String {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): Int(exactly: number).map(String.init) ?? String(number)
    default: ""
    }
  }
}
