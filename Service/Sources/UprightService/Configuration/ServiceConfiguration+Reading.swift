internal import Configuration
internal import Foundation
package import UprightOrientation
internal import UprightPolicy
internal import Upright

extension ServiceConfiguration {
  /// Reads the settings. Flags override the environment, which overrides the file.
  ///
  /// - Parameters:
  ///   - flags: The values from the command line, by setting name.
  ///   - environment: The environment of the process.
  ///   - file: The path of the configuration file, if there is one.
  /// - Throws: `configuration`, with the setting and the file.
  package init(
    flags: [String: String], environment: [String: String], file: String?
  ) throws(UprightError) {
    self.init()
    self.file = file
    let document = try file.map { (path) throws(UprightError) in try Self.document(at: path) }
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

  /// Who may play each session of the configuration, by name.
  var declaredPlayback: [String: Playback] {
    sessions.reduce(into: [:]) { found, session in
      guard let name = session["name"]?.text else { return }
      found[name] = session["playback"]?.text.flatMap(Playback.init) ?? playback
    }
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

  /// Returns the values of the environment variables that are settings, by setting name.
  private static func named(_ environment: [String: String]) -> [String: String] {
    var texts: [String: String] = [:]
    for setting in settings {
      guard let variable = setting.variable, let text = environment[variable] else { continue }
      if !text.isEmpty { texts[setting.name] = text }
    }
    if let text = environment[tokenVariable], !text.isEmpty { texts["token"] = text }
    return texts
  }

  /// Returns the bytes of a file that `option` names.
  ///
  /// - Throws: `configuration` if it can't be read.
  static func contents(of path: String, named option: String) throws(UprightError) -> Data {
    if let data = FileManager.default.contents(atPath: path) { return data }
    throw UprightError(
      .configuration, "can't read the file", at: path, remedy: "check \(option)")
  }

  private static func document(at path: String) throws(UprightError) -> JSONValue {
    let data = try contents(of: path, named: "--config")
    do throws(PolicyError) { return try JSONValue(parsing: data) } catch {
      throw UprightError(
        .configuration, error.message, at: "\(path), \(error.path)", remedy: error.remedy)
    }
  }

  private static func values(
    of document: JSONValue, in file: String
  ) throws(UprightError) -> [AbsoluteConfigKey: ConfigValue] {
    guard case .object(let members) = document else {
      throw UprightError(
        .configuration, "isn't a JSON object", at: file, remedy: "write {\"listen\": ...}")
    }
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    for member in members where !member.key.hasPrefix(commentMark) {
      guard let setting = settings.first(where: { $0.name == member.key }) else {
        throw UprightError(
          .configuration, "unknown setting \(printable(member.key))", at: file,
          remedy: "use " + settings.map(\.name).joined(separator: ", "))
      }
      // `readLists` reads the others. `null` is the default.
      guard setting.variable != nil, member.value != .null else { continue }
      guard let text = Self.text(member.value) else {
        throw UprightError(
          .configuration, "unsupported value", at: "\(file), \(member.key)",
          remedy: "write a string, a number or an array of strings")
      }
      values[[member.key]] = ConfigValue(.string(text), isSecret: false)
    }
    return values
  }

  /// Returns a setting in the form of the environment: the elements of an array are joined with commas.
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

  private mutating func apply(_ reader: ConfigReader) throws(UprightError) {
    if let text = reader.string(forKey: "listen") {
      guard let endpoint = Endpoint(text) else {
        throw Self.wrong("listen", "write HOST:PORT")
      }
      listen = endpoint
    }
    publicURL = reader.string(forKey: "publicURL")
    if let publicURL, PublicURL(publicURL) == nil {
      throw Self.wrong("publicURL", "use https://HOST[:PORT][/PATH]")
    }
    if let text = reader.string(forKey: "data") { data = text }
    token = reader.string(forKey: "token", isSecret: true)
    tokenFile = reader.string(forKey: "tokenFile")
    if let tokenFile { token = try Self.token(at: tokenFile) }
    if let token, token.utf8.count < 16 || token.contains(where: \.isWhitespace) {
      throw Self.wrong("token", "use 16 or more characters without spaces")
    }
    if let text = reader.string(forKey: "allowHosts") {
      allowHosts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      for host in allowHosts where HostPattern(host) == nil {
        throw Self.wrong(
          "allowHosts",
          "\(printable(host)) isn't a host: write example.com, *.example.com or 10.0.0.5:8000")
      }
    }
    maxSessions = try Self.number(reader, "maxSessions", 1...1000) ?? maxSessions
    maxConnections = try Self.number(reader, "maxConnections", 1...100_000) ?? maxConnections
    bodyLimit = try Self.number(reader, "bodyLimit", 1024...(64 << 20)) ?? bodyLimit
    drainTimeout = try Self.number(reader, "drainTimeout", 1...600).map(Double.init) ?? drainTimeout
    tlsCert = reader.string(forKey: "tlsCert")
    tlsKey = reader.string(forKey: "tlsKey")
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw Self.wrong(tlsKey == nil ? "tlsKey" : "tlsCert", "set both tlsCert and tlsKey")
    }
    if let text = reader.string(forKey: "playback") {
      guard let given = Playback(rawValue: text) else {
        throw Self.wrong("playback", "use open or signed")
      }
      playback = given
    }
    playbackKeyFile = reader.string(forKey: "playbackKeyFile")
    if let text = reader.string(forKey: "part") {
      guard let seconds = Double(text), (0.1...2).contains(seconds) else {
        throw Self.wrong("part", "use 0.1 to 2 seconds")
      }
      part = seconds
    }
    if let text = reader.string(forKey: "minFreeSpace") {
      guard let bytes = JSONValue.string(text).bytes, bytes >= 0 else {
        throw Self.wrong("minFreeSpace", "use a number of bytes, or text such as 500M or 10G")
      }
      minFreeSpace = bytes
    }
    try applyOrigin(reader)
    try applyWebRTC(reader)
  }

  /// Returns the address of another server, to which paths are appended; `nil` if it isn't configured.
  private static func baseURL(
    _ reader: ConfigReader, _ name: String, example: String
  ) throws(UprightError) -> String? {
    guard let text = reader.string(forKey: ConfigKey(name)) else { return nil }
    guard let url = StreamURL(text), url.isHTTP, url.query == nil, url.userinfo == nil else {
      throw wrong(name, "write \(example)")
    }
    return text
  }

  /// Returns the secret that a file holds, without spaces and newlines around it.
  private static func secret(in path: String, named name: String) throws(UprightError) -> String {
    String(decoding: try contents(of: path, named: name), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private mutating func applyOrigin(_ reader: ConfigReader) throws(UprightError) {
    hlsOrigin =
      try Self.baseURL(reader, "hlsOrigin", example: "http://10.0.0.5:8000/live") ?? hlsOrigin
    hlsOriginTokenFile = reader.string(forKey: "hlsOriginTokenFile")
    hlsOriginToken = try hlsOriginTokenFile.map { (path) throws(UprightError) in
      try Self.secret(in: path, named: "hlsOriginTokenFile")
    }
    if let token = hlsOriginToken,
      token.isEmpty || !token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    {
      throw Self.wrong("hlsOriginTokenFile", "write a token of ASCII characters without spaces")
    }
  }

  private mutating func applyWebRTC(_ reader: ConfigReader) throws(UprightError) {
    webrtc = try Self.baseURL(reader, "webrtc", example: "http://127.0.0.1:8088/janus") ?? webrtc
    webrtcSecretFile = reader.string(forKey: "webrtcSecretFile")
    webrtcSecret = try webrtcSecretFile.map { (path) throws(UprightError) in
      try Self.secret(in: path, named: "webrtcSecretFile")
    }
    if let text = reader.string(forKey: "iceServers") {
      iceServers = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      for server in iceServers where ICEServer(server) == nil {
        throw Self.wrong(
          "iceServers",
          "write stun:stun.example.com:3478 or turn:USER:PASSWORD@turn.example.com:3478")
      }
    }
  }

  private static func number(
    _ reader: ConfigReader, _ name: String, _ range: ClosedRange<Int>
  ) throws(UprightError) -> Int? {
    guard let text = reader.string(forKey: ConfigKey([name])) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw wrong(name, "use an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func token(at path: String) throws(UprightError) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw UprightError(
        .configuration, "can't read the token", at: path, remedy: "check --token-file")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func wrong(_ name: String, _ remedy: String) -> UprightError {
    UprightError(.configuration, "invalid setting", at: name, remedy: remedy)
  }

  private mutating func readLists(_ document: JSONValue, _ file: String) throws(UprightError) {
    if let hook = document["onPublish"], hook != .null { onPublish = hook }
    for (name, list) in [("sessions", \Self.sessions), ("webhooks", \Self.webhooks)] {
      guard let value = document[name], value != .null else { continue }
      guard case .array(let values) = value else {
        throw UprightError(
          .configuration, "isn't an array", at: "\(file), \(name)", remedy: "write [...]")
      }
      self[keyPath: list] = values
    }
    if let value = document["recordings"], value != .null {
      recordings = try RecordingRetention(value, at: "\(file), recordings")
    }
    for (index, session) in sessions.enumerated() where session["name"]?.text == nil {
      throw UprightError(
        .configuration, "the session has no name", at: "\(file), sessions[\(index)]",
        remedy: "add a name: it identifies the session after a restart")
    }
  }
}
