internal import Foundation

/// Why an address is not taken, in words that go into the answer.
struct Refusal: Error, Sendable, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// Which addresses a session may name. Pure: what must be resolved is checked again, when its
/// addresses are known.
struct AddressRules: Sendable {
  /// Hosts that http and https may name: `example.com`, `*.example.com`, `10.0.0.5`, each with an
  /// optional `:port`. An address that is listed is allowed though it is private.
  var allowHosts: [HostPattern] = []
  /// The folder that files are read from.
  var dataFolder = ""
  /// The addresses of this machine: what a listener may be bound to.
  var ownAddresses: Set<IPAddress> = []

  enum Direction: String, Sendable { case input, output }

  /// Schemes, and in which direction they may be used; the query's members that they may carry.
  private static let schemes: [String: (input: Bool, output: Bool, query: Set<String>?)] = [
    "rtmp": (true, true, nil), "rtmps": (true, true, nil),
    "srt": (
      true, true, ["mode", "streamid", "passphrase", "pbkeylen", "latency", "maxbw", "pkt_size"]
    ),
    "rtsp": (true, false, nil),
    "udp": (true, true, ["pkt_size", "buffer_size", "fifo_size", "ttl", "reuse"]),
    "rtp": (true, false, ["pkt_size", "buffer_size", "ttl"]),
    "http": (true, false, nil), "https": (true, false, nil),
  ]

  /// Reads a URL and checks what can be checked without the network: scheme, query, literal address.
  func check(_ text: String, _ direction: Direction) throws(Refusal) -> StreamURL {
    guard let url = StreamURL(text) else {
      throw Refusal(
        "the \(direction.rawValue)'s url is not scheme://host[:port]/path, or holds what a URL must escape"
      )
    }
    guard let scheme = Self.schemes[url.scheme],
      direction == .input ? scheme.input : scheme.output
    else {
      let allowed = Self.schemes.filter { direction == .input ? $0.value.input : $0.value.output }
      throw Refusal(
        "\(url.scheme): is not allowed as an \(direction.rawValue); allowed are "
          + allowed.keys.sorted().joined(separator: ", "))
    }
    if let query = scheme.query, let other = url.queryNames.first(where: { !query.contains($0) }) {
      throw Refusal(
        "\(url.scheme): does not take the option \(other); it takes "
          + query.sorted().joined(separator: ", "))
    }
    try check(host: url, direction)
    return url
  }

  private func check(host url: StreamURL, _ direction: Direction) throws(Refusal) {
    if IPAddress.isDisguised(url.host) {
      throw Refusal("the host is a number: write an address as four decimal numbers")
    }
    if url.isHTTP {
      guard isAllowed(host: url.host, port: url.port ?? (url.scheme == "http" ? 80 : 443)) else {
        throw Refusal("the host \(url.host) is not in allowHosts")
      }
      return
    }
    guard let address = url.address else { return }
    // A listener may mean every address of ours; one that is to be connected to is checked again.
    if direction == .input, address.scope == .unspecified, Self.listening.contains(url.scheme) {
      return
    }
    try check(address, for: url.scheme)
  }

  /// Schemes whose streams may come to us.
  private static let listening: Set<String> = ["rtmp", "srt", "udp"]

  /// Whether http may name `host` at `port`.
  func isAllowed(host: String, port: Int) -> Bool {
    allowHosts.contains { $0.matches(host: host, port: port) }
  }

  /// Whether a stream of `scheme` may come from or go to `address`: this machine and its neighbours
  /// as well, for who may post a session may name them; but no address that answers for a whole link
  /// or configures a cloud's machine.
  func check(_ address: IPAddress, for scheme: String) throws(Refusal) {
    switch address.scope {
    case .loopback, .private, .public: return
    case .multicast where scheme == "udp" || scheme == "rtp": return
    case .unspecified: throw Refusal("\(address) is no address to connect to")
    default:
      throw Refusal("\(address) is \(Self.word(address.scope)): such addresses are not allowed")
    }
  }

  /// Whether an address that showed later may be connected to by http: a name's, a redirect's, a
  /// playlist's. Only public ones, and those that are listed.
  func check(hop address: IPAddress, port: Int) throws(Refusal) {
    if address.scope == .public { return }
    if isAllowed(host: address.description, port: port) { return }
    throw Refusal("\(Self.word(address.scope)) address")
  }

  /// Whether a listener may be bound to the URL's host.
  func checkOwn(_ url: StreamURL) throws(Refusal) {
    guard let address = url.address ?? (url.host == "localhost" ? IPAddress("127.0.0.1") : nil)
    else { throw Refusal("a listener wants an address of this machine, not a name") }
    if [.unspecified, .loopback].contains(address.scope) { return }
    if ownAddresses.contains(address) { return }
    let remedy = url.scheme == "udp" ? "" : "; to connect to it, say \"mode\": \"pull\""
    throw Refusal("\(address) is not an address of this machine\(remedy)")
  }

  private static func word(_ scope: IPAddress.Scope) -> String {
    switch scope {
    case .linkLocal: "a link-local"
    case .multicast: "a multicast"
    case .loopback: "a loopback"
    case .private: "a private"
    case .reserved: "a reserved"
    case .unspecified: "an unspecified"
    case .public: "a public"
    }
  }
}

// MARK: - Files

extension AddressRules {
  /// The path of the file that `file:NAME` means, in the data folder.
  ///
  /// Links are followed before it is compared: a link out of the folder is outside.
  func file(_ text: String) throws(Refusal) -> String {
    var name = String(text.dropFirst(text.lowercased().hasPrefix("file://") ? 7 : 5))
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Refusal("file: wants a name in the data folder")
    }
    let root = URL(fileURLWithPath: dataFolder).resolvingSymlinksInPath().standardizedFileURL.path
    if !name.hasPrefix("/") { name = root + "/" + name }
    let path = URL(fileURLWithPath: name).resolvingSymlinksInPath().standardizedFileURL.path
    guard path.hasPrefix(root + "/") else { throw Refusal("file: leads out of the data folder") }
    // Our own state lives in names that begin with a dot.
    guard !path.dropFirst(root.count).split(separator: "/").contains(where: { $0.hasPrefix(".") })
    else { throw Refusal("file: names what is not media") }
    return path
  }

  /// Whether `text` is a file's name and nothing more.
  static func isName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.first != 46 && text.utf8.first != 45
      && text.utf8.allSatisfy {
        (97...122).contains($0 | 0x20) || (48...57).contains($0) || [45, 46, 95].contains($0)
      }
  }
}

/// A host that http may name.
struct HostPattern: Sendable, Hashable {
  private let host: String
  private let takesSubdomains: Bool
  private let port: Int?

  /// Reads `example.com`, `*.example.com`, `10.0.0.5:8000`, `[::1]:8000`; nil for anything else.
  init?(_ text: String) {
    takesSubdomains = text.hasPrefix("*.")
    let rest = takesSubdomains ? String(text.dropFirst(2)) : text
    guard let url = StreamURL("http://\(rest)"), url.path.isEmpty, url.query == nil,
      url.userinfo == nil, !IPAddress.isDisguised(url.host)
    else { return nil }
    host = url.address?.description ?? url.host
    port = url.port
  }

  func matches(host name: String, port: Int) -> Bool {
    let name = IPAddress(name)?.description ?? name.lowercased()
    guard self.port == nil || self.port == port else { return false }
    return takesSubdomains ? name.hasSuffix(".\(host)") : name == host
  }
}

// MARK: - RTP

extension AddressRules {
  /// Checks where a session description (RFC 8866) would have us listen: only at addresses of ours
  /// and of groups.
  func check(description: String) throws(Refusal) {
    guard (1...16384).contains(description.utf8.count), description.hasPrefix("v=0"),
      description.unicodeScalars.allSatisfy({ $0.value >= 0x20 || $0 == "\n" || $0 == "\r" })
    else { throw Refusal("the sdp is no session description (RFC 8866) of up to 16384 bytes") }
    var hasMedia = false
    for line in description.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") { hasMedia = true }
      guard line.hasPrefix("c=") else { continue }
      let words = line.dropFirst(2).split(separator: " ")
      // The time to live and the number of groups stand behind the address.
      guard words.count == 3, words[0] == "IN",
        let address = IPAddress(words[2].prefix { $0 != "/" })
      else { throw Refusal("the sdp's c= line holds no literal address") }
      if [.unspecified, .loopback, .multicast].contains(address.scope) { continue }
      guard ownAddresses.contains(address) else {
        throw Refusal("\(address) in the sdp is not an address of this machine")
      }
    }
    guard hasMedia else { throw Refusal("the sdp has no media") }
  }
}
