internal import Foundation
package import UprightOrientation
internal import UprightPolicy
internal import Upright

extension ServiceConfiguration {
  /// Reads the settings. Flags override the environment, which overrides the file.
  ///
  /// - Parameters:
  ///   - flags: The values from the command line, by setting name.
  ///   - environment: The environment of the process. Empty variables don't count.
  ///   - file: The path of the configuration file, if there is one.
  /// - Throws: `configuration`, with the setting and where it comes from.
  package init(
    flags: [String: String], environment: [String: String], file: String?
  ) throws(UprightError) {
    self.init()
    self.file = file
    let variables = environment.filter { !$0.value.isEmpty }
    let document = try file.map { (path) throws(UprightError) in try Self.document(at: path) }
    if let text = variables[Self.tokenVariable] {
      guard Self.isValidToken(text) else {
        throw UprightError(
          .configuration, "invalid token", at: Self.tokenVariable, remedy: "use \(Self.validToken)")
      }
      token = text
    }
    for setting in Self.settings {
      if let text = flags[setting.name] {
        try read(setting, .string(text), from: setting.option)
      } else if let variable = setting.variable, let text = variables[variable] {
        try read(setting, .string(text), from: variable)
      } else if let document, let file, let value = document[setting.name], value != .null {
        try read(setting, value, from: "\(file), \(setting.name)")
      }
    }
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw UprightError(
        .configuration, "invalid setting", at: tlsKey == nil ? "tlsKey" : "tlsCert",
        remedy: "set both tlsCert and tlsKey")
    }
  }

  /// Who may play each session of the configuration, by name.
  var declaredPlayback: [String: Playback] {
    sessions.reduce(into: [:]) { found, session in
      guard let name = session["name"]?.text else { return }
      found[name] = session["playback"]?.text.flatMap(Playback.init) ?? playback
    }
  }

  /// Returns the bytes of a file that `option` names.
  ///
  /// - Throws: `configuration` if it can't be read.
  static func contents(of path: String, named option: String) throws(UprightError) -> Data {
    if let data = FileManager.default.contents(atPath: path) { return data }
    throw UprightError(
      .configuration, "can't read the file", at: path, remedy: "check \(option)")
  }

  private mutating func read(
    _ setting: Setting, _ value: JSONValue, from place: String
  ) throws(UprightError) {
    do throws(Setting.Fault) { try setting.read(value, &self) } catch {
      throw UprightError(
        .configuration, error.message, at: place + error.place, remedy: error.remedy)
    }
  }

  /// Returns the configuration file, whose members are settings or comments.
  private static func document(at path: String) throws(UprightError) -> JSONValue {
    let data = try contents(of: path, named: "--config")
    let document: JSONValue
    do throws(PolicyError) { document = try JSONValue(parsing: data) } catch {
      throw UprightError(
        .configuration, error.message, at: "\(path), \(error.path)", remedy: error.remedy)
    }
    guard case .object(let members) = document else {
      throw UprightError(
        .configuration, "isn't a JSON object", at: path, remedy: "write {\"listen\": ...}")
    }
    for member in members where !member.key.hasPrefix(commentMark) {
      guard settings.contains(where: { $0.name == member.key }) else {
        throw UprightError(
          .configuration, "unknown setting \(printable(member.key))", at: path,
          remedy: "use " + settings.map(\.name).joined(separator: ", "))
      }
    }
    return document
  }
}
