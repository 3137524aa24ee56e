/// A URL read strictly, so that what is checked is what libavformat's laxer reader will see.
///
/// No escapes in the host, no second `@`, no backslash, no space, no control: such a URL is none.
struct StreamURL: Sendable, Hashable {
  /// In lower case.
  var scheme: String
  /// `user[:password]`, not decoded; nil where there is none.
  var userinfo: String?
  /// In lower case; an address of version 6 without its brackets.
  var host: String
  /// Whether only this machine can reach it, by what the URL says.
  var isLoopback: Bool { host == "localhost" || IPAddress(host)?.scope == .loopback }
  var port: Int?
  /// With its leading slash; empty where there is none.
  var path: String
  /// Without the question mark; nil where there is none.
  var query: String?

  /// Reads `scheme://[userinfo@]host[:port][/path][?query]`; nil for anything else.
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

  /// A name of the Domain Name System or an address of version 4.
  static func isHost(_ text: some StringProtocol) -> Bool {
    (1...253).contains(text.utf8.count) && text.utf8.first != 46
      && text.utf8.allSatisfy {
        (97...122).contains($0 | 0x20) || (48...57).contains($0) || [45, 46, 95].contains($0)
      }
  }

  var isHTTP: Bool { scheme == "http" || scheme == "https" }

  /// The address that the host is; nil for a name.
  var address: IPAddress? { IPAddress(host) }

  /// The names of the query's members, in order.
  var queryNames: [String] {
    (query ?? "").split(separator: "&").map { String($0.prefix { $0 != "=" }) }
  }

  /// The value of the query's member `name`; nil where there is none.
  func queryValue(_ name: String) -> String? {
    (query ?? "").split(separator: "&").first { $0.prefix { $0 != "=" } == name }
      .flatMap { $0.contains("=") ? String($0.drop { $0 != "=" }.dropFirst()) : "" }
  }

  /// The whole, with every secret in it.
  var text: String { text(host: host) }

  /// The same with `address` in the place of the host, so that nobody resolves it again.
  func text(at address: IPAddress) -> String { text(host: address.description) }

  private func text(host: String) -> String {
    "\(scheme)://" + (userinfo.map { "\($0)@" } ?? "") + (host.contains(":") ? "[\(host)]" : host)
      + (port.map { ":\($0)" } ?? "") + path + (query.map { "?\($0)" } ?? "")
  }

  /// Fit for an answer or a log: no user, no query's values, and of RTMP's path not the key.
  var redacted: String {
    var path = path
    if scheme.hasPrefix("rtmp"), let slash = path.lastIndex(of: "/"), slash != path.startIndex {
      path = path[...slash] + "***"
    }
    let query = query.map { _ in "?" + queryNames.map { "\($0)=***" }.joined(separator: "&") }
    return "\(scheme)://" + (userinfo == nil ? "" : "***@")
      + (host.contains(":") ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "") + path
      + (query ?? "")
  }

  /// What must not be shown: the key, the password, the query's values.
  var secrets: [String] {
    var secrets = (query ?? "").split(separator: "&").compactMap { member in
      member.contains("=") ? String(member.drop { $0 != "=" }.dropFirst()) : nil
    }
    if let userinfo { secrets.append(String(userinfo.drop { $0 != ":" }.dropFirst())) }
    if scheme.hasPrefix("rtmp"), let key = path.split(separator: "/").dropFirst().last {
      secrets.append(String(key))
    }
    return secrets.filter { $0.utf8.count >= 4 && !Self.isPlain($0) }
  }

  /// Words of options that are no secrets, and would black out half a log.
  private static func isPlain(_ text: String) -> Bool {
    ["listener", "caller", "live"].contains(text) || text.allSatisfy(\.isNumber)
  }
}
