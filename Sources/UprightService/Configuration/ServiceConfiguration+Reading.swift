internal import Configuration
internal import Foundation
package import UprightMediaIO
internal import RotationPolicy

extension ServiceConfiguration {
  /// The settings by name: in the file as they stand here, in the environment as
  /// `UPRIGHT_MAX_SESSIONS`, as a flag `--max-sessions`.
  package static let settings: [(name: String, help: String)] = [
    ("listen", "HOST:PORT to serve HTTP on; 127.0.0.1:8080"),
    ("data", "folder that everything is written under; ./upright-data"),
    ("tokenFile", "file that holds the admin token; else UPRIGHT_TOKEN, else one is made"),
    (
      "allowHosts",
      "hosts that http inputs and webhooks may name: example.com, *.example.com, 10.0.0.5:8000"
    ),
    ("maxSessions", "sessions that run at a time; 16"),
    ("maxConnections", "HTTP connections at a time; 1024"),
    ("bodyLimit", "bytes of a request's body; 1048576"),
    ("drainTimeout", "seconds that a shutdown may take; 10"),
  ]

  /// Layers flags over the environment over the file.
  ///
  /// - Parameters:
  ///   - flags: what the command line gave, by a setting's name.
  ///   - environment: the process's.
  ///   - file: the configuration file's path; nil: none.
  /// - Throws: `configuration`, naming the setting and the file.
  package init(
    flags: [String: String], environment: [String: String], file: String?
  ) throws(MediaError) {
    self.init()
    let document = try file.map { (path) throws(MediaError) in try Self.document(at: path) }
    var layers: [any ConfigProvider] = [
      InMemoryProvider(name: "flags", values: Self.values(flags, at: "the command line")),
      InMemoryProvider(name: "environment", values: Self.values(Self.named(environment))),
    ]
    if let document, let file {
      layers.append(
        InMemoryProvider(name: "file", values: try Self.values(of: document, in: file)))
    }
    let reader = ConfigReader(providers: layers)
    try apply(reader)
    if let document, let file { try readLists(document, file) }
  }

  // MARK: - Layers

  private static func values(
    _ texts: [String: String], at place: String = ""
  ) -> [AbsoluteConfigKey: ConfigValue] {
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    for (name, text) in texts {
      values[[name]] = ConfigValue(.string(text), isSecret: name == "token")
    }
    return values
  }

  /// The members of the environment that are settings, by the settings' names.
  private static func named(_ environment: [String: String]) -> [String: String] {
    var texts: [String: String] = [:]
    for name in settings.map(\.name) + ["token"] {
      let words = name.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
      if let text = environment["UPRIGHT_" + words], !text.isEmpty { texts[name] = text }
    }
    return texts
  }

  private static func document(at path: String) throws(MediaError) -> JSONValue {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw MediaError(
        .configuration, "the file cannot be read", at: path, remedy: "check --config")
    }
    do throws(PolicyError) { return try JSONValue(parsing: data) } catch {
      throw MediaError(
        .configuration, error.message, at: "\(path), \(error.path)", remedy: error.remedy)
    }
  }

  private static func values(
    of document: JSONValue, in file: String
  ) throws(MediaError) -> [AbsoluteConfigKey: ConfigValue] {
    guard case .object(let members) = document else {
      throw MediaError(.configuration, "is no object", at: file, remedy: "write {\"listen\": ...}")
    }
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    for member in members where member.key != "sessions" && member.key != "webhooks" {
      guard settings.contains(where: { $0.name == member.key }) else {
        throw MediaError(
          .configuration, "\(printable(member.key)) is no setting", at: file,
          remedy: "use " + settings.map(\.name).joined(separator: ", ") + ", sessions, webhooks")
      }
      guard let text = Self.text(member.value) else {
        throw MediaError(
          .configuration, "has a value that cannot be used", at: "\(file), \(member.key)",
          remedy: "write a text, a number or a list of texts")
      }
      values[[member.key]] = ConfigValue(.string(text), isSecret: false)
    }
    return values
  }

  /// A setting as the environment would hold it: a list with commas between.
  private static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): return text
    case .integer, .number:
      return value.double.map { Int(exactly: $0).map(String.init) ?? String($0) }
    case .array(let values):
      let texts = values.compactMap(\.text)
      return texts.count == values.count ? texts.joined(separator: ",") : nil
    default: return nil
    }
  }

  // MARK: - Settings

  private mutating func apply(_ reader: ConfigReader) throws(MediaError) {
    if let text = reader.string(forKey: "listen") {
      guard let endpoint = Endpoint(text) else {
        throw Self.wrong("listen", "write HOST:PORT")
      }
      listen = endpoint
    }
    if let text = reader.string(forKey: "data") { data = text }
    token = reader.string(forKey: "token", isSecret: true)
    if let path = reader.string(forKey: "tokenFile") { token = try Self.token(at: path) }
    if let token, token.utf8.count < 16 || token.contains(where: \.isWhitespace) {
      throw Self.wrong("token", "give 16 or more characters without a space")
    }
    if let text = reader.string(forKey: "allowHosts") {
      allowHosts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      for host in allowHosts where HostPattern(host) == nil {
        throw Self.wrong(
          "allowHosts",
          "\(printable(host)) is no host: write example.com, *.example.com or 10.0.0.5:8000")
      }
    }
    maxSessions = try Self.number(reader, "maxSessions", 1...1000) ?? maxSessions
    maxConnections = try Self.number(reader, "maxConnections", 1...100_000) ?? maxConnections
    bodyLimit = try Self.number(reader, "bodyLimit", 1024...(64 << 20)) ?? bodyLimit
    drainTimeout = try Self.number(reader, "drainTimeout", 1...600).map(Double.init) ?? drainTimeout
  }

  private static func number(
    _ reader: ConfigReader, _ name: String, _ range: ClosedRange<Int>
  ) throws(MediaError) -> Int? {
    guard let text = reader.string(forKey: ConfigKey([name])) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw wrong(name, "give a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func token(at path: String) throws(MediaError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw MediaError(
        .configuration, "the token cannot be read", at: path, remedy: "check --token-file")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func wrong(_ name: String, _ remedy: String) -> MediaError {
    MediaError(.configuration, "the setting cannot be used", at: name, remedy: remedy)
  }

  private mutating func readLists(_ document: JSONValue, _ file: String) throws(MediaError) {
    for (name, list) in [("sessions", \Self.sessions), ("webhooks", \Self.webhooks)] {
      guard let value = document[name] else { continue }
      guard case .array(let values) = value else {
        throw MediaError(
          .configuration, "is no list", at: "\(file), \(name)", remedy: "write [...]")
      }
      self[keyPath: list] = values
    }
    for (index, session) in sessions.enumerated() where session["name"]?.text == nil {
      throw MediaError(
        .configuration, "a session without a name", at: "\(file), sessions[\(index)]",
        remedy: "name it: it comes back by its name")
    }
  }
}
