internal import UprightOrientation
internal import UprightPolicy

/// An entry of the configuration's `sessions` whose name is a pattern: each publisher whose stream matches it gets
/// a session of its own, named after the stream.
struct SessionTemplate: Sendable {
  let pattern: StreamPattern
  /// The port that publishers connect to, as a URL without a path.
  let port: StreamURL
  /// The key that all publishers must give; `nil` if the hook alone decides, or everyone on this machine may
  /// publish.
  let key: String?
  let hook: PublishHook?
  /// The other members, as in a request for a session.
  private let members: [JSONValue.Member]

  /// Stands for the session's name in the addresses and file names of outputs.
  static let nameMark = "{name}"

  /// Returns whether an entry of the configuration is a template.
  static func isTemplate(_ entry: JSONValue) -> Bool {
    entry["name"]?.text?.contains("*") == true
  }

  /// Parses and checks an entry of the configuration.
  ///
  /// - Parameters:
  ///   - hook: The hook of templates that don't have their own.
  ///   - place: Where the entry is, for errors.
  /// - Throws: `configuration`.
  init(
    _ entry: JSONValue, hook: PublishHook?, rules: AddressRules, at place: String
  ) throws(UprightError) {
    guard case .object(let all) = entry else {
      throw UprightError(.configuration, "isn't an object", at: place)
    }
    guard let pattern = entry["name"]?.text.flatMap(StreamPattern.init) else {
      throw UprightError(
        .configuration, "isn't a pattern", at: "\(place).name",
        remedy: "write APP/* or *, with letters, digits, '.', '_' and '-'")
    }
    self.pattern = pattern
    members = all.filter { !["name", "input", "key", "onPublish"].contains($0.key) }
    port = try Self.read("\(place).input") { try Self.port(entry["input"], rules) }
    key = try Self.read("\(place).key") { try Self.key(entry["key"]) }
    self.hook =
      if let own = entry["onPublish"] {
        try Self.read("\(place).onPublish") { try PublishHook(own, rules: rules) }
      } else { hook }
    guard key != nil || self.hook != nil || port.passphrase != nil || port.isLoopback else {
      throw UprightError(
        .configuration, "everyone could publish", at: place,
        remedy: "add a key, or onPublish, or listen on 127.0.0.1")
    }
    try Self.read(place) {
      // The longest name, so that no name makes a path or key that is too long.
      let name = String(repeating: "n", count: SessionRequest.maxName)
      _ = try request(name: name, path: name, key: "", answer: [], rules: rules)
    }
  }

  /// Returns the result of `body`. An error gets the place in the configuration.
  private static func read<Value>(
    _ place: String, _ body: () throws -> Value
  ) throws(UprightError) -> Value {
    do { return try body() } catch {
      throw UprightError(.configuration, Problem(error).detail, at: place)
    }
  }

  private static func port(_ input: JSONValue?, _ rules: AddressRules) throws -> StreamURL {
    let members = try SessionRequest.members(
      of: input ?? .object([]), "input", allowing: ["url", "mode"])
    let url = try rules.check(members["url"]?.text ?? "", .input)
    guard PublishScheme(rawValue: url.scheme) != nil, url.path.isEmpty,
      url.query == nil || url.scheme == "srt", url.queryValue("streamid") == nil,
      url.userinfo == nil, [nil, "listen"].contains(members["mode"])
    else {
      throw Refusal(
        "the input of a pattern must be rtmp://host:port, rtmps://host:port or srt://host:port")
    }
    try rules.checkOwn(url)
    if url.scheme == "srt" { try SessionRequest.checkListener(url) }
    return url
  }

  private static func key(_ value: JSONValue?) throws -> String? {
    guard let value else { return nil }
    guard case .string(let key) = value, (Sessions.shortestKey...256).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw Problem.badRequest("must be \(Sessions.shortestKey) to 256 characters without spaces")
    }
    return key
  }

  /// Identifies the template among those of a configuration.
  var id: String { "\(port.scheme)://\(port.host):\(port.port ?? 0)/\(pattern)" }

  /// Returns the request for a publisher's session.
  ///
  /// - Parameters:
  ///   - name: The session's name, unless `answer` has another.
  ///   - path: The path of the publisher's stream.
  ///   - key: The publisher's key, which is the session's publish key.
  ///   - answer: The members that the hook's answer gives. They replace the template's.
  /// - Throws: As `SessionRequest.init`; also if `answer` has an input.
  func request(
    name: String, path: String, key: String, answer: [JSONValue.Member], rules: AddressRules
  ) throws -> SessionRequest {
    guard !answer.contains(where: { $0.key == "input" }) else {
      throw Problem.badRequest("input: is the publisher's stream")
    }
    let url = port.stream(path)
    let given = Set(answer.map(\.key))
    var body = members.filter { !given.contains($0.key) } + answer
    body.append(.init("input", ["url": .string(url.text), "mode": "listen"]))
    if !given.contains("name") { body.append(.init("name", .string(name))) }
    let name = answer.first { $0.key == "name" }?.value.text ?? name
    body = body.map { $0.key == "outputs" ? .init("outputs", Self.filled($0.value, name)) : $0 }
    var request = try SessionRequest(.object(body), rules: rules)
    // The stream's name is a secret if the answer has another.
    let hidden = path.lastIndex(of: "/").map { path[...$0] + "***" } ?? "***"
    request.input = .admitted(port.stream(String(hidden)), template: id, key: key)
    return request
  }

  /// Returns outputs with the name in place of its mark.
  private static func filled(_ outputs: JSONValue, _ name: String) -> JSONValue {
    guard case .array(let list) = outputs else { return outputs }
    return .array(
      list.map { output in
        guard case .object(let members) = output else { return output }
        return .object(
          members.map { member in
            guard ["url", "name"].contains(member.key), let text = member.value.text else {
              return member
            }
            return .init(member.key, .string(text.replacing(nameMark, with: name)))
          })
      })
  }
}

extension SessionTemplate {
  /// Returns the templates of a configuration.
  ///
  /// - Parameter check: Checks the command-line arguments of a session's options.
  /// - Throws: `configuration` if a template or the hook is invalid, or a pattern appears twice at a port.
  static func all(
    of configuration: ServiceConfiguration, rules: AddressRules
  ) throws(UprightError) -> [SessionTemplate] {
    let file = configuration.file.map { "\($0), " } ?? ""
    let hook = try configuration.onPublish.map { (value) throws(UprightError) in
      try read("\(file)onPublish") { try PublishHook(value, rules: rules) }
    }
    var templates: [SessionTemplate] = []
    for (index, entry) in configuration.sessions.enumerated() where isTemplate(entry) {
      let place = "\(file)sessions[\(index)]"
      let template = try SessionTemplate(
        entry, hook: hook, rules: rules, at: place)
      guard !templates.contains(where: { $0.id == template.id }) else {
        throw UprightError(
          .configuration, "the pattern appears twice", at: "\(place).name",
          remedy: "remove one, or use another port")
      }
      templates.append(template)
    }
    return templates
  }
}
