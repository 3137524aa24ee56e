internal import Foundation
internal import Upright

/// An address or value that isn't allowed. `reason` is returned to the client.
struct Refusal: Error, Sendable, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The rules for the addresses in session requests.
///
/// The checks don't use the network. A host name is checked again after it is resolved.
struct AddressRules: Sendable {
  /// The hosts allowed in http and https URLs: `example.com`, `*.example.com`, `10.0.0.5`, each with an
  /// optional `:port`. A listed address is allowed even if it is private.
  var allowHosts: [HostPattern] = []
  /// The folder of input files.
  var dataFolder = ""
  /// The addresses of this machine, which a listener may bind to.
  var ownAddresses: Set<IPAddress> = []

  enum Direction: String, Sendable { case input, output }

  /// The allowed directions and query parameters of each scheme. `nil` allows all parameters.
  private static let schemes: [String: (input: Bool, output: Bool, query: Set<String>?)] = [
    "rtmp": (true, true, nil), "rtmps": (true, true, nil),
    "srt": (
      true, true, ["mode", "streamid", "passphrase", "pbkeylen", "latency", "maxbw", "pkt_size"]
    ),
    "rtsp": (true, true, nil),
    "udp": (true, true, ["pkt_size", "buffer_size", "fifo_size", "ttl", "reuse"]),
    "rtp": (true, false, ["pkt_size", "buffer_size", "ttl"]),
    "http": (true, false, nil), "https": (true, false, nil),
  ]

  /// Parses a URL and checks its scheme, query and literal address. Doesn't resolve names.
  func check(_ text: String, _ direction: Direction) throws(Refusal) -> StreamURL {
    guard let url = StreamURL(text) else {
      throw Refusal(
        "the \(direction.rawValue) URL isn't scheme://host[:port]/path, or contains characters that must be escaped"
      )
    }
    guard let scheme = Self.schemes[url.scheme],
      direction == .input ? scheme.input : scheme.output
    else {
      let allowed = Self.schemes.filter { direction == .input ? $0.value.input : $0.value.output }
      throw Refusal(
        "\(url.scheme): isn't allowed as an \(direction.rawValue); use one of: "
          + allowed.keys.sorted().joined(separator: ", "))
    }
    if let query = scheme.query, let other = url.queryNames.first(where: { !query.contains($0) }) {
      throw Refusal(
        "\(url.scheme): doesn't support the query parameter \(other); supported: "
          + query.sorted().joined(separator: ", "))
    }
    try check(host: url, direction)
    return url
  }

  private func check(host url: StreamURL, _ direction: Direction) throws(Refusal) {
    if IPAddress.isDisguised(url.host) {
      throw Refusal("the host is a number; write an IPv4 address as four decimal numbers")
    }
    if url.isHTTP {
      guard isAllowed(host: url.host, port: url.port ?? (url.scheme == "http" ? 80 : 443)) else {
        throw Refusal("the host \(url.host) isn't in allowHosts")
      }
      return
    }
    guard let address = url.address else { return }
    // A listener may use the unspecified address, to bind to all interfaces. Addresses to connect to are
    // checked again.
    if direction == .input, address.scope == .unspecified, Self.listening.contains(url.scheme) {
      return
    }
    try check(address, for: url.scheme)
  }

  /// The schemes that can listen.
  private static let listening: Set<String> = ["rtmp", "rtmps", "srt", "udp"]

  /// Returns whether http and https URLs may use `host` and `port`.
  func isAllowed(host: String, port: Int) -> Bool {
    allowHosts.contains { $0.matches(host: host, port: port) }
  }

  /// Checks whether a stream of `scheme` may use `address` as its source or destination.
  ///
  /// Loopback and private addresses are allowed, because a client that may create sessions may use them.
  /// Link-local addresses aren't: cloud providers serve machine metadata there. Multicast is for udp and rtp
  /// only.
  func check(_ address: IPAddress, for scheme: String) throws(Refusal) {
    switch address.scope {
    case .loopback, .private, .public: return
    case .multicast where scheme == "udp" || scheme == "rtp": return
    case .unspecified: throw Refusal("can't connect to the unspecified address \(address)")
    default:
      throw Refusal("\(address) is \(Self.word(address.scope)) address, which isn't allowed")
    }
  }

  /// Checks whether http may connect to an address that a name, a redirect or a playlist led to. Only public
  /// addresses and those in `allowHosts` are allowed.
  func check(hop address: IPAddress, port: Int) throws(Refusal) {
    if address.scope == .public { return }
    if isAllowed(host: address.description, port: port) { return }
    throw Refusal("\(Self.word(address.scope)) address")
  }

  /// Checks whether a listener may bind to the URL's host.
  func checkOwn(_ url: StreamURL) throws(Refusal) {
    guard let address = url.address ?? (url.host == "localhost" ? IPAddress("127.0.0.1") : nil)
    else { throw Refusal("a listener needs an address of this machine, not a name") }
    if [.unspecified, .loopback].contains(address.scope) { return }
    if ownAddresses.contains(address) { return }
    let remedy = url.scheme == "udp" ? "" : "; to connect to it, set \"mode\": \"pull\""
    throw Refusal("\(address) isn't an address of this machine\(remedy)")
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
  /// Returns the path in the data folder for `file:NAME`.
  ///
  /// Resolves symbolic links first, so that a link can't lead out of the folder.
  ///
  /// - Throws: `Refusal` if the name is empty or has control characters, or if the path is outside the data
  ///   folder or has a component that begins with a dot.
  func file(_ text: String) throws(Refusal) -> String {
    var name = String(text.dropFirst(text.lowercased().hasPrefix("file://") ? 7 : 5))
    guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Refusal("file: needs the name of a file in the data folder")
    }
    let root = URL(fileURLWithPath: dataFolder).resolvingSymlinksInPath().standardizedFileURL.path
    if !name.hasPrefix("/") { name = root + "/" + name }
    let path = URL(fileURLWithPath: name).resolvingSymlinksInPath().standardizedFileURL.path
    guard path.hasPrefix(root + "/") else { throw Refusal("file: is outside the data folder") }
    // The service keeps its state in names that begin with a dot.
    guard !path.dropFirst(root.count).split(separator: "/").contains(where: { $0.hasPrefix(".") })
    else { throw Refusal("file: isn't a media file") }
    return path
  }

  /// Returns whether `text` is a plain file name: 1 to 128 ASCII letters, digits, `.`, `_` and `-`, not
  /// beginning with `.` or `-`.
  static func isName(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.first != 46 && text.utf8.first != 45
      && text.utf8.allSatisfy(isNameByte)
  }

  /// Returns whether `byte` can be in a name: an ASCII letter, a digit, `.`, `_` or `-`.
  static func isNameByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte | 0x20) || (48...57).contains(byte) || [45, 46, 95].contains(byte)
  }
}

/// An entry of `allowHosts`.
struct HostPattern: Sendable, Hashable {
  private let host: String
  private let takesSubdomains: Bool
  private let port: Int?

  /// Parses `example.com`, `*.example.com`, `10.0.0.5:8000` or `[::1]:8000`. Returns `nil` for anything else.
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
  /// Checks the addresses in a session description (RFC 8866). Only addresses of this machine and multicast
  /// groups are allowed.
  func check(description: String) throws(Refusal) {
    guard (1...16384).contains(description.utf8.count), description.hasPrefix("v=0"),
      description.unicodeScalars.allSatisfy({ $0.value >= 0x20 || $0 == "\n" || $0 == "\r" })
    else { throw Refusal("the sdp isn't a session description (RFC 8866) of up to 16384 bytes") }
    var hasMedia = false
    for line in description.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") { hasMedia = true }
      guard line.hasPrefix("c=") else { continue }
      let words = line.dropFirst(2).split(separator: " ")
      // A time to live and a number of groups may follow the address.
      guard words.count == 3, words[0] == "IN",
        let address = IPAddress(words[2].prefix { $0 != "/" })
      else { throw Refusal("the sdp's c= line has no literal IP address") }
      if [.unspecified, .loopback, .multicast].contains(address.scope) { continue }
      guard ownAddresses.contains(address) else {
        throw Refusal("\(address) in the sdp isn't an address of this machine")
      }
    }
    guard hasMedia else { throw Refusal("the sdp has no m= line") }
  }
}
