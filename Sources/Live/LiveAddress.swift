internal import UprightMediaIO

/// Addresses as they may be shown: what follows the host may be a key, what precedes it a password.
enum LiveAddress {
  /// Scheme, host and port.
  static func shown(_ url: String) -> String {
    guard let scheme = InputTrust.scheme(of: url), let start = url.firstRange(of: "://") else {
      return url
    }
    let authority = url[start.upperBound...].prefix { !"/?#".contains($0) }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
    return "\(scheme)://\(host ?? authority)"
  }

  /// Host and port; nil where one of them is missing. An IPv6 address is without its brackets.
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

  /// `error` without what `url` has to hide; libavformat's own words may repeat it.
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
