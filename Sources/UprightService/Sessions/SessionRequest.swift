internal import RotationPolicy
internal import UprightFiles

/// What a POST or the configuration asks for: read and checked, nothing opened.
struct SessionRequest: Sendable {
  enum Input: Sendable, Hashable {
    /// A publisher comes to us.
    case publisher(StreamURL)
    /// A port that libavformat receives on.
    case listener(StreamURL)
    case pull(StreamURL)
    case file(path: String, name: String)
    case rtp(description: String)
  }

  enum Output: Sendable, Hashable {
    case hls
    case push(StreamURL)
    case file(name: String)
  }

  var name: String?
  var input: Input
  var outputs: [Output]
  var policy: PolicyDocument
  /// The options as words of the command line.
  var words: [String]
  var inputTimeout: Double?

  static let mostOutputs = 8

  /// - Throws: `Problem` 400 where the shape is wrong, `Refusal` where an address is not allowed,
  ///   `PolicyError` where the policy cannot be read.
  init(_ value: JSONValue, rules: AddressRules) throws {
    let members = try Self.members(
      of: value, "the session",
      allowing: ["name", "input", "outputs", "policy", "options", "inputTimeout"])
    if let given = members["name"] {
      guard case .string(let text) = given, AddressRules.isName(text), text.utf8.count <= 64 else {
        throw Problem.badRequest(
          "name: up to 64 letters, digits, '.', '_' and '-', beginning with a letter or a digit")
      }
      name = text
    }
    guard let given = members["input"] else { throw Problem.badRequest("input: is missing") }
    input = try Self.input(given, rules)
    outputs = try Self.outputs(members["outputs"], rules)
    switch members["policy"] {
    case nil: policy = PolicyDocument.builtIn("phone") ?? PolicyDocument()
    case .string(let word):
      guard let document = PolicyDocument.builtIn(word) else {
        throw Problem.unprocessable(
          "policy: \(word) is none of " + PolicyDocument.builtInNames.joined(separator: ", "))
      }
      policy = document
    case .some(let document): policy = try PolicyDocument(document)
    }
    words = try SessionOptions.words(members["options"] ?? [:], rules)
    if let given = members["inputTimeout"] {
      guard let seconds = given.double, (1...86400).contains(seconds) else {
        throw Problem.badRequest("inputTimeout: seconds, 1 to 86400")
      }
      inputTimeout = seconds
    }
  }

  /// The members of an object by name; what is not known is an error.
  static func members(
    of value: JSONValue, _ what: String, allowing names: [String]
  ) throws(Problem) -> [String: JSONValue] {
    guard case .object(let list) = value else { throw .badRequest("\(what): is no object") }
    var members: [String: JSONValue] = [:]
    for member in list {
      guard names.contains(member.key) else {
        throw .badRequest(
          "\(what): \(printable(member.key)) is not known; known are "
            + names.joined(separator: ", "))
      }
      guard members.updateValue(member.value, forKey: member.key) == nil else {
        throw .badRequest("\(what): \(member.key) stands there twice")
      }
    }
    return members
  }

  // MARK: - Input

  private static func input(_ value: JSONValue, _ rules: AddressRules) throws -> Input {
    let members = try members(of: value, "input", allowing: ["url", "mode", "sdp"])
    if let description = members["sdp"] {
      guard case .string(let text) = description, members["url"] == nil else {
        throw Problem.badRequest("input: an sdp is a text and stands for the url")
      }
      try rules.check(description: text)
      return .rtp(description: text)
    }
    guard case .string(let text)? = members["url"] else {
      throw Problem.badRequest("input: url is missing")
    }
    if text.lowercased().hasPrefix("file:") {
      return .file(path: try rules.file(text), name: String(text.dropFirst(5)))
    }
    let url = try rules.check(text, .input)
    let listens: Bool
    switch members["mode"] {
    case nil: listens = ["rtmp", "srt"].contains(url.scheme)
    case .string("listen"): listens = true
    case .string("pull"): listens = false
    default: throw Problem.badRequest("input: mode is listen or pull")
    }
    if url.scheme == "rtp" {
      throw Refusal("rtp: says nothing of what it carries; give its description as \"sdp\"")
    }
    if !listens {
      if url.queryValue("mode") == "listener" {
        throw Refusal("mode=listener listens; say \"mode\": \"listen\"")
      }
      // What is sent by UDP is sent to us; a group is joined.
      if url.scheme != "udp" || url.address?.scope == .multicast { return .pull(url) }
    }
    try rules.checkOwn(url)
    switch url.scheme {
    case "rtmp":
      guard !url.path.split(separator: "/").isEmpty, url.query == nil, url.userinfo == nil else {
        throw Refusal("a publisher's address is rtmp://host:port/app/key")
      }
      return .publisher(url)
    case "srt", "udp":
      guard url.port != nil else { throw Refusal("a listener wants a port") }
      guard ["listener", nil].contains(url.queryValue("mode")) else {
        throw Refusal("a listener's mode is listener; to call, say \"mode\": \"pull\"")
      }
      return .listener(url)
    default: throw Refusal("\(url.scheme): cannot listen; say \"mode\": \"pull\"")
    }
  }

  // MARK: - Outputs

  private static func outputs(_ value: JSONValue?, _ rules: AddressRules) throws -> [Output] {
    guard let value else { return [.hls] }
    guard case .array(let list) = value, (1...mostOutputs).contains(list.count) else {
      throw Problem.badRequest("outputs: a list of 1 to \(mostOutputs)")
    }
    var outputs: [Output] = []
    for entry in list {
      let output = try output(entry, rules)
      guard !outputs.contains(output) else { throw Problem.badRequest("outputs: one twice") }
      outputs.append(output)
    }
    return outputs
  }

  private static func output(_ value: JSONValue, _ rules: AddressRules) throws -> Output {
    let members = try members(of: value, "an output", allowing: ["type", "url", "name"])
    guard case .string(let type)? = members["type"] else {
      throw Problem.badRequest("an output: type is missing")
    }
    switch (type, members["url"], members["name"]) {
    case ("hls", nil, nil): return .hls
    case ("file", nil, .string(let name)?):
      guard AddressRules.isName(name) else {
        throw Refusal("a file's name is a name, not a path: letters, digits, '.', '_', '-'")
      }
      return .file(name: name)
    case ("rtmp", .string(let text)?, nil), ("srt", .string(let text)?, nil),
      ("udp", .string(let text)?, nil):
      let url = try rules.check(text, .output)
      guard url.scheme == type || url.scheme == type + "s" else {
        throw Refusal("the output's type is \(type), its url \(url.scheme):")
      }
      return .push(url)
    default:
      throw Problem.badRequest(
        "an output: {\"type\": \"hls\"}, {\"type\": \"rtmp\" | \"srt\" | \"udp\", \"url\": ...} or "
          + "{\"type\": \"file\", \"name\": ...}")
    }
  }
}

/// A client's word as a message may hold it: short, on one line.
func printable(_ text: String) -> String {
  let safe = text.unicodeScalars.prefix(60).map {
    $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
      ? "?" : String($0)
  }
  return safe.joined()
}

extension JSONValue {
  /// The number, written with a fraction or without.
  var double: Double? {
    switch self {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  /// The text, if this is one.
  var text: String? { if case .string(let text) = self { text } else { nil } }
}
