internal import UprightOrientation
internal import UprightMediaIO

/// URLs for display. The part after the host may contain a stream key, and the part before it a password.
package enum LiveAddress {
  /// Returns the scheme, host and port.
  package static func shown(_ url: String) -> String {
    guard let scheme = InputTrust.scheme(of: url), let start = url.firstRange(of: "://") else {
      return url
    }
    let authority = url[start.upperBound...].prefix { !"/?#".contains($0) }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
    return "\(scheme)://\(host ?? authority)"
  }

  /// Returns the host and port, or `nil` if one of them is missing. An IPv6 address is returned without
  /// brackets.
  static func endpoint(_ url: String) -> (host: String, port: UInt16)? {
    guard let start = shown(url).firstRange(of: "://") else { return nil }
    let authority = shown(url)[start.upperBound...]
    guard let colon = authority.lastIndex(of: ":"),
      let port = UInt16(authority[authority.index(after: colon)...])
    else { return nil }
    let host = authority[..<colon]
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    return (String(isBracketed ? host.dropFirst().dropLast() : host), port)
  }

  /// Returns whether two URLs name the same stream. A query is a key, not a part of the name, except for the
  /// virtual host of an RTMP server and for SRT, which has no path.
  static func areSame(_ one: String, _ other: String) -> Bool { name(of: one) == name(of: other) }

  private static func name(of url: String) -> [String] {
    guard let scheme = InputTrust.scheme(of: url), scheme != "srt",
      let start = url.firstRange(of: "://")
    else { return [url] }
    let plain = ["rtmps": "rtmp", "rtsps": "rtsp"][scheme] ?? scheme
    let address = shown(url)
    var host = address[(address.firstRange(of: "://")?.upperBound ?? address.startIndex)...]
      .lowercased()
    let port = ["rtmp": ":1935", "rtsp": ":554", "rtmps": ":443", "rtsps": ":322"][scheme]
    if let port, endpoint(url) == nil { host += port }
    if host.hasPrefix("localhost:") { host = "127.0.0.1" + host.dropFirst(9) }
    let rest = url[start.upperBound...].drop { !"/?#".contains($0) }
    let parts = rest.split(separator: "?", maxSplits: 1)
    let path = (parts.first ?? "").split(separator: "/").joined(separator: "/")
    let vhost = parts.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("vhost=") }
    return [plain, host, path, vhost.map(String.init) ?? ""]
  }

  /// Returns `error` without the secret parts of `url`. Messages from libavformat may contain the URL.
  static func masked(_ error: UprightError, _ url: String) -> UprightError {
    guard InputTrust.scheme(of: url) != nil else { return error }
    var message = error.message.replacing(url, with: shown(url))
    let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
    let path = rest.drop { !"/?".contains($0) }
    for part in path.split(whereSeparator: { "/?&=".contains($0) }) where part.count > 3 {
      message = message.replacing(part, with: "...")
    }
    return UprightError(error.code, message, at: shown(error.location), remedy: error.remedy)
  }
}
