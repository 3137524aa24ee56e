internal import UprightPolicy
internal import Upright

/// A parsed and checked request for a session, from a POST or the configuration.
struct SessionRequest: Sendable {
  enum Input: Sendable, Hashable {
    /// A publisher connects to the service's RTMP or SRT port.
    case publisher(StreamURL)
    /// A publisher has connected to a template's port. The URL has no secrets; the key is the session's publish key.
    case admitted(StreamURL, template: String, key: String)
    /// libavformat listens on a port.
    case listener(StreamURL)
    case pull(StreamURL)
    /// A file of the data folder, which may start again when it ends.
    case file(path: String, name: String, repeats: Bool)
    case rtp(description: String)
    /// The service's own phone, which films the scene of the sample.
    case sample
    /// A publisher connects by WebRTC. Its video is limited to `bitrate`, in bits per second, if there is one.
    case whip(bitrate: Int?)
  }

  enum Output: Sendable, Hashable {
    case hls
    case push(StreamURL)
    case file(name: String, RecordingLimits)
  }

  var name: String?
  var input: Input
  var outputs: [Output]
  /// The id of each output; `nil` to generate one.
  var outputIDs: [String?]
  /// The canvas of each output; `nil` for that of the session.
  var outputCanvases: [CanvasRule?]
  var policy: PolicyDocument
  /// The options, as they were given.
  var options: JSONValue
  /// The options, read.
  var transcode: TranscodeOptions
  var inputTimeout: Double?
  /// Who may play the HLS output; `nil` uses the default of the configuration.
  var playback: Playback?
  /// Which sessions drop frames first.
  var priority = SessionPriority.normal
  /// Whether the HLS output has parts.
  var isLowLatency = false
  /// The number of the session's owner, if the session may move to another machine. The next owner has a higher one.
  var epoch: Int?
  /// Whether the session is from the configuration.
  var isDeclared = false

  /// Whether the session has nothing to do before a publisher comes.
  var waits: Bool {
    switch input {
    case .publisher, .whip: true
    case .admitted, .listener, .pull, .file, .rtp, .sample: false
    }
  }

  static let maxOutputs = 8
  /// The allowed epochs. All are exact in JSON.
  static let epochs = 1...(1 << 53) - 1

  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if an address isn't allowed,
  ///   `PolicyError` if the policy isn't valid.
  init(_ value: JSONValue, rules: AddressRules) throws {
    let members = try Self.members(
      of: value, "session",
      allowing: [
        "name", "input", "outputs", "policy", "options", "inputTimeout", "playback", "latency",
        "epoch", "priority",
      ])
    name = try members["name"].map { try Self.name($0, at: "name:") }
    guard let given = members["input"] else { throw Problem.badRequest("input is missing") }
    input = try Self.input(given, rules)
    options = members["options"] ?? [:]
    (outputs, outputIDs, outputCanvases) = try Self.outputs(
      members["outputs"], rules, isDual: SessionOptions.isDual(options))
    policy = try Self.policy(members["policy"] ?? .string("phone"))
    transcode = try SessionOptions.read(options, rules)
    if let given = members["inputTimeout"] {
      guard let seconds = given.double, (1...86400).contains(seconds) else {
        throw Problem.badRequest("inputTimeout: must be 1 to 86400 seconds")
      }
      inputTimeout = seconds
    }
    if let given = members["latency"] {
      guard case .string(let text) = given, ["normal", "low"].contains(text) else {
        throw Problem.badRequest("latency: must be normal or low")
      }
      isLowLatency = text == "low"
    }
    if let given = members["priority"] {
      guard let word = given.text.flatMap(SessionPriority.init) else {
        throw Problem.badRequest("priority: must be low, normal or high")
      }
      priority = word
    }
    if let given = members["playback"] {
      playback = given.text.flatMap(Playback.init)
      if playback == nil { throw Problem.badRequest("playback: must be open or signed") }
    }
    if let given = members["epoch"] {
      guard let number = given.integer, Self.epochs.contains(number) else {
        throw Problem.badRequest("epoch: must be an integer from 1 to \(Self.epochs.upperBound)")
      }
      epoch = number
    }
  }

  /// Parses the name of a session or an output.
  ///
  /// - Throws: `Problem` 400 if it isn't one.
  private static func name(_ value: JSONValue, at place: String) throws(Problem) -> String {
    guard case .string(let text) = value, isName(text) else {
      throw .badRequest("\(place) \(nameRule)")
    }
    return text
  }

  /// The maximum length of a name, in bytes.
  static let maxName = 64
  static let nameRule =
    "must be 1 to \(maxName) letters, digits, '.', '_' and '-', and not begin with '.' or '-'"

  /// Returns whether `text` can be the name of a session or an output.
  static func isName(_ text: String) -> Bool {
    AddressRules.isName(text) && text.utf8.count <= maxName
  }

  /// Parses a policy, or the name of a built-in policy.
  ///
  /// - Throws: `Problem` 422 for an unknown name, `PolicyError` if the policy isn't valid.
  static func policy(_ value: JSONValue) throws -> PolicyDocument {
    guard case .string(let word) = value else { return try PolicyDocument(value) }
    guard let document = PolicyDocument.builtIn(word) else {
      throw Problem.unprocessable(
        "policy: \(printable(word)) isn't one of "
          + PolicyDocument.builtInNames.joined(separator: ", "))
    }
    return document
  }

  /// Returns the members of an object by name.
  ///
  /// - Throws: `Problem` 400 if `value` isn't an object, or has a member that is unknown or appears twice.
  static func members(
    of value: JSONValue, _ what: String, allowing names: [String]
  ) throws(Problem) -> [String: JSONValue] {
    guard case .object(let list) = value else { throw .badRequest("\(what): isn't an object") }
    var members: [String: JSONValue] = [:]
    for member in list {
      guard names.contains(member.key) else {
        throw .badRequest(
          "\(what): unknown member \(printable(member.key)); use "
            + names.joined(separator: ", "))
      }
      guard members.updateValue(member.value, forKey: member.key) == nil else {
        throw .badRequest("\(what): \(member.key) appears twice")
      }
    }
    return members
  }

  // MARK: - Input

  private static func input(_ value: JSONValue, _ rules: AddressRules) throws -> Input {
    let members = try members(
      of: value, "input", allowing: ["url", "mode", "sdp", "whip", "repeat"])
    if let whip = members["whip"] {
      guard members.count == 1 else {
        throw Problem.badRequest("input: whip must be the only member")
      }
      return .whip(bitrate: try bitrate(whip))
    }
    if let description = members["sdp"] {
      guard case .string(let text) = description, members["url"] == nil else {
        throw Problem.badRequest("input: sdp must be a string, without a url")
      }
      try rules.check(description: text)
      return .rtp(description: text)
    }
    guard case .string(let text)? = members["url"] else {
      throw Problem.badRequest("input: url is missing")
    }
    let isFile = text.lowercased().hasPrefix("file:")
    let repeats = try repeats(members["repeat"], isFile: isFile)
    if isFile {
      return .file(
        path: try rules.file(text), name: String(text.dropFirst(5)), repeats: repeats)
    }
    return try input(rules.check(text, .input), mode: members["mode"], rules)
  }

  private static func repeats(_ given: JSONValue?, isFile: Bool) throws(Problem) -> Bool {
    guard let given else { return false }
    guard case .bool(let repeats) = given else {
      throw .badRequest("input: repeat must be true or false")
    }
    guard isFile else { throw .unprocessable("input: repeat is for file:NAME only") }
    return repeats
  }

  /// Returns the input at an address that may be connected to.
  private static func input(
    _ url: StreamURL, mode: JSONValue?, _ rules: AddressRules
  ) throws -> Input {
    let listens: Bool
    switch mode {
    case nil: listens = ["rtmp", "srt"].contains(url.scheme)
    case .string("listen"): listens = true
    case .string("pull"): listens = false
    default: throw Problem.badRequest("input: mode must be listen or pull")
    }
    if url.scheme == "rtp" {
      throw Refusal("rtp: needs a session description; use \"sdp\" instead of \"url\"")
    }
    if !listens {
      if url.queryValue("mode") == "listener" {
        throw Refusal("mode=listener needs \"mode\": \"listen\"")
      }
      // A unicast UDP input always listens. A multicast group is joined.
      if url.scheme != "udp" || url.address?.scope == .multicast { return .pull(url) }
    }
    try rules.checkOwn(url)
    switch url.scheme {
    case "rtmp", "rtmps":
      guard !url.path.split(separator: "/").isEmpty, url.query == nil, url.userinfo == nil else {
        throw Refusal("a publisher's URL must be \(url.scheme)://host:port/app/key")
      }
      return .publisher(url)
    case "srt" where url.queryValue("streamid") != nil:
      try checkListener(url)
      guard !url.streamPath.isEmpty, url.streamPath.allSatisfy(AddressRules.isName) else {
        throw Refusal("streamid: must be app/key, with letters, digits, '.', '_' and '-'")
      }
      return .publisher(url)
    case "srt", "udp":
      guard url.port != nil else { throw Refusal("a listener needs a port") }
      guard ["listener", nil].contains(url.queryValue("mode")) else {
        throw Refusal("a listener needs mode=listener; to connect, set \"mode\": \"pull\"")
      }
      return .listener(url)
    default: throw Refusal("\(url.scheme): can't listen; set \"mode\": \"pull\"")
    }
  }

  /// Checks the URL of the SRT port, whose publishers are routed by their `streamid`.
  static func checkListener(_ url: StreamURL) throws(Refusal) {
    guard url.port != nil else { throw Refusal("a listener needs a port") }
    guard url.path.isEmpty || url.path == "/", url.userinfo == nil,
      [nil, "listener"].contains(url.queryValue("mode"))
    else { throw Refusal("a publisher's URL must be srt://host:port?streamid=app/key") }
    let known: Set<String> = ["mode", "streamid", "passphrase"]
    if let other = url.queryNames.first(where: { !known.contains($0) }) {
      throw Refusal("\(other): is the publisher's choice, at a port with a streamid")
    }
    if let passphrase = url.passphrase, !(10...79).contains(passphrase.utf8.count) {
      throw Refusal("passphrase: must be 10 to 79 characters")
    }
  }

  /// Returns the limit for the video of a WHIP input, in bits per second.
  private static func bitrate(_ whip: JSONValue) throws(Problem) -> Int? {
    guard let value = try members(of: whip, "whip", allowing: ["bitrate"])["bitrate"] else {
      return nil
    }
    guard let bitrate = value.integer, (50_000...100_000_000).contains(bitrate) else {
      throw .badRequest("whip: bitrate must be 50000 to 100000000 bits per second")
    }
    return bitrate
  }

  // MARK: - Outputs

  /// - Parameter isDual: Whether the session has two canvases. A file becomes two then, one for each.
  private static func outputs(
    _ value: JSONValue?, _ rules: AddressRules, isDual: Bool
  ) throws -> ([Output], ids: [String?], canvases: [CanvasRule?]) {
    guard let value else { return ([.hls], [nil], [nil]) }
    guard case .array(let list) = value, (1...maxOutputs).contains(list.count) else {
      throw Problem.badRequest("outputs: must be an array of 1 to \(maxOutputs) outputs")
    }
    var outputs: [Output] = []
    var ids: [String?] = []
    var canvases: [CanvasRule?] = []
    for entry in list {
      let given = try output(entry, rules)
      let isHalved = isDual && given.canvas == nil
      for (output, id, canvas) in isHalved ? try halves(given.0, id: given.id) : [given] {
        guard !outputs.contains(output) else { throw Refusal("outputs: duplicate output") }
        guard id == nil || !ids.contains(id) else { throw Refusal("outputs: duplicate id") }
        outputs.append(output)
        ids.append(id)
        canvases.append(canvas)
      }
    }
    guard outputs.count <= maxOutputs else {
      throw Problem.badRequest(
        "outputs: a file of both canvases is two outputs; use at most \(maxOutputs)")
    }
    return (outputs, ids, canvases)
  }

  /// Returns an output of a session with two canvases: a file becomes two, `NAME-portrait.EXT` and
  /// `NAME-landscape.EXT`.
  private static func halves(
    _ output: Output, id: String?
  ) throws -> [(Output, id: String?, canvas: CanvasRule?)] {
    guard case .file(let name, let limits) = output else { return [(output, id, nil)] }
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    let (stem, ending) = (name[..<dot], name[dot...])
    return try [CanvasRule.portrait, .landscape].map { canvas in
      let half = "\(stem)-\(canvas.rawValue)\(ending)"
      let halfID = id.map { "\($0)-\(canvas.rawValue)" }
      guard halfID.map(isName) ?? true else { throw Refusal("outputs: the id is too long") }
      return (.file(name: half, limits), halfID, canvas)
    }
  }

  /// Parses an output, with its id and its canvas if it has them.
  ///
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if its address isn't allowed.
  static func output(
    _ value: JSONValue, _ rules: AddressRules
  ) throws -> (Output, id: String?, canvas: CanvasRule?) {
    var members = try members(
      of: value, "output",
      allowing: ["id", "type", "url", "name", "canvas", "segmentDuration", "segmentSize"])
    let id = try members.removeValue(forKey: "id").map { try name($0, at: "output: id") }
    let canvas = try members.removeValue(forKey: "canvas").map { value in
      guard let rule = value.text.flatMap(CanvasRule.init), [.portrait, .landscape].contains(rule)
      else { throw Problem.badRequest("output: canvas must be portrait or landscape") }
      return rule
    }
    return (try output(members, rules), id, canvas)
  }

  private static func output(
    _ members: [String: JSONValue], _ rules: AddressRules
  ) throws -> Output {
    guard case .string(let type)? = members["type"] else {
      throw Problem.badRequest("output: type is missing")
    }
    let limits = try RecordingLimits(members)
    guard type == "file" || limits == RecordingLimits() else {
      throw Problem.badRequest("output: segmentDuration and segmentSize are for files")
    }
    switch (type, members["url"], members["name"]) {
    case ("hls", nil, nil): return .hls
    case ("file", nil, .string(let name)?):
      // A number may be added to it.
      guard AddressRules.isName(name), name.utf8.count <= 100 else {
        throw Refusal(
          "output: name must be 1 to 100 letters, digits, '.', '_' and '-', not a path")
      }
      guard RecordingID(session: "any", name: name) != nil else {
        throw Refusal("output: name must end with .mp4, .mov, .mkv, .ts or .flv")
      }
      return .file(name: name, limits)
    case ("rtmp", .string(let text)?, nil), ("rtsp", .string(let text)?, nil),
      ("srt", .string(let text)?, nil), ("udp", .string(let text)?, nil):
      let url = try rules.check(text, .output)
      guard url.scheme == type || url.scheme == type + "s" else {
        throw Refusal("output: the type is \(type), but the URL is \(url.scheme):")
      }
      return .push(url)
    default:
      throw Problem.badRequest(
        "output: use {\"type\": \"hls\"}, {\"type\": \"rtmp\" | \"rtsp\" | \"srt\" | \"udp\", \"url\": ...} "
          + "or {\"type\": \"file\", \"name\": ...}")
    }
  }
}
