/// A strictly parsed URL, so that libavformat's more lenient parser can't read it differently from how it was
/// checked.
///
/// Rejects escapes in the host, a second `@`, backslashes, spaces and control characters.
struct StreamURL: Sendable, Hashable {
  /// The scheme, in lower case.
  var scheme: String
  /// `user[:password]`, not decoded; `nil` if there is none.
  var userinfo: String?
  /// The host, in lower case. An IPv6 address has no brackets.
  var host: String
  /// Whether the host is `localhost` or a loopback address.
  var isLoopback: Bool { host == "localhost" || IPAddress(host)?.scope == .loopback }
  var port: Int?
  /// The path with its leading slash; empty if there is none.
  var path: String
  /// The query without the question mark; `nil` if there is none.
  var query: String?

  /// Parses `scheme://[userinfo@]host[:port][/path][?query]`. Returns `nil` for anything else.
  init?(_ text: String) {
    guard text.utf8.count <= 2048,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !#"\"<>#^`{|}#"#.utf8.contains($0) }),
      let colon = text.firstRange(of: "://")
    else { return nil }
    scheme = text[..<colon.lowerBound].lowercased()
    guard let first = scheme.utf8.first, (97...122).contains(first),
      scheme.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) })
    else { return nil }
    let rest = text[colon.upperBound...]
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard let authority = Self.authority(rest[..<end]) else { return nil }
    (userinfo, host, port) = authority
    let tail = rest[end...]
    let question = tail.firstIndex(of: "?") ?? tail.endIndex
    path = String(tail[..<question])
    query = question == tail.endIndex ? nil : String(tail[tail.index(after: question)...])
  }

  private static func authority(_ text: Substring) -> (String?, String, Int?)? {
    let sides = text.split(separator: "@", omittingEmptySubsequences: false)
    guard sides.count <= 2, var host = sides.last else { return nil }
    let userinfo = sides.count == 2 ? String(sides[0]) : nil
    var port: Int?
    if host.first == "[" {
      guard let close = host.firstIndex(of: "]") else { return nil }
      let behind = host[host.index(after: close)...]
      let inside = host[host.index(after: host.startIndex)..<close]
      guard inside.contains(":"), IPAddress(inside) != nil else { return nil }
      if !behind.isEmpty {
        guard behind.first == ":", let number = Self.port(behind.dropFirst()) else { return nil }
        port = number
      }
      return (userinfo, inside.lowercased(), port)
    }
    if let colon = host.firstIndex(of: ":") {
      guard let number = Self.port(host[host.index(after: colon)...]) else { return nil }
      port = number
      host = host[..<colon]
    }
    guard isHost(host) else { return nil }
    return (userinfo, host.lowercased(), port)
  }

  private static func port(_ text: Substring) -> Int? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(text), (1...65535).contains(port)
    else { return nil }
    return port
  }

  /// Returns whether `text` has the form of a DNS name or an IPv4 address.
  static func isHost(_ text: some StringProtocol) -> Bool {
    (1...253).contains(text.utf8.count) && text.utf8.first != 46
      && text.utf8.allSatisfy {
        (97...122).contains($0 | 0x20) || (48...57).contains($0) || [45, 46, 95].contains($0)
      }
  }

  var isHTTP: Bool { scheme == "http" || scheme == "https" }

  /// The host as an address; `nil` if it is a name.
  var address: IPAddress? { IPAddress(host) }

  /// The names of the query parameters, in order.
  var queryNames: [String] {
    (query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) }
  }

  /// Returns the value of the query parameter `name`, or `nil` if there is none.
  func queryValue(_ name: String) -> String? {
    (query ?? "").split(separator: "&").first { $0.prefix { $0 != "=" } == name }
      .flatMap { $0.contains("=") ? String($0.drop { $0 != "=" }.dropFirst()) : "" }
  }

  /// The complete URL, secrets included.
  var text: String { text(host: host) }

  /// Returns the URL with the host replaced by `address`, so that the name isn't resolved again.
  func text(at address: IPAddress) -> String { text(host: address.description) }

  private func text(host: String) -> String {
    "\(scheme)://" + (userinfo.map { "\($0)@" } ?? "") + (host.contains(":") ? "[\(host)]" : host)
      + (port.map { ":\($0)" } ?? "") + path + (query.map { "?\($0)" } ?? "")
  }

  /// The URL for responses and logs: without user, query values, signatures and, for RTMP, the stream key.
  var redacted: String {
    var path = path
    for signature in signatures { path = path.replacing(signature, with: "~***") }
    if scheme.hasPrefix("rtmp"), let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      path = path[...slash] + "***"
    }
    let query = query.map { _ in "?" + queryNames.map { "\($0)=***" }.joined(separator: "&") }
    return "\(scheme)://" + (userinfo == nil ? "" : "***@")
      + (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") + path
      + (query ?? "")
  }

  /// The parts of the path that are signatures of a playback URL.
  private var signatures: [Substring] {
    path.split(separator: "/").filter { $0.hasPrefix("~") && $0.utf8.count >= 43 }
  }

  /// The secrets in the URL: the stream key, the password, the query values and signatures of playback URLs.
  var secrets: [String] {
    var secrets = (query ?? "").split(separator: "&").compactMap { member in
      member.contains("=") ? String(member.drop { $0 != "=" }.dropFirst()) : nil
    }
    if let userinfo { secrets.append(String(userinfo.drop { $0 != ":" }.dropFirst())) }
    if scheme.hasPrefix("rtmp"), let key = path.split(separator: "/").dropFirst().last {
      secrets.append(String(key))
    }
    secrets += signatures.map(String.init)
    return secrets.filter { $0.utf8.count >= 4 && !Self.isPlain($0) }
  }

  /// Returns whether `text` is a common option value. Such values aren't secret, and hiding them would make
  /// logs unreadable.
  private static func isPlain(_ text: String) -> Bool {
    ["listener", "caller", "live"].contains(text) || text.allSatisfy(\.isNumber)
  }
}
