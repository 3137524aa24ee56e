internal import Foundation

/// A STUN or TURN server of the configuration: `stun:HOST:PORT` (RFC 7064) or `turn:USER:PASSWORD@HOST:PORT`, with the
/// credentials in front of a URI (RFC 7065).
struct ICEServer: Sendable {
  /// The URI, without the credentials.
  private let uri: String
  private let credentials: (user: String, password: String)?

  /// Returns `nil` if the text isn't one.
  init?(_ text: String) {
    guard let colon = text.firstIndex(of: ":"),
      text.allSatisfy({ $0.isASCII && !$0.isWhitespace && !"<>\"\\,".contains($0) })
    else { return nil }
    let (scheme, rest) = (String(text[..<colon]), text[text.index(after: colon)...])
    guard ["stun", "stuns", "turn", "turns"].contains(scheme) else { return nil }
    let parts = rest.split(separator: "@", omittingEmptySubsequences: false)
    switch parts.count {
    case 1: credentials = nil
    case 2:
      let words = parts[0].split(separator: ":").map { String($0).removingPercentEncoding ?? "" }
      guard scheme.hasPrefix("turn"), words.count == 2 else { return nil }
      credentials = (words[0], words[1])
    default: return nil
    }
    guard let host = parts.last, !host.isEmpty, !host.hasPrefix("//"), !host.hasPrefix("?") else {
      return nil
    }
    uri = "\(scheme):\(host)"
  }

  /// The value of a `Link` header (RFC 9725, 4.6).
  var link: String {
    guard let credentials else { return "<\(uri)>; rel=\"ice-server\"" }
    return "<\(uri)>; rel=\"ice-server\"; username=\(Self.quoted(credentials.user)); "
      + "credential=\(Self.quoted(credentials.password)); credential-type=\"password\""
  }

  private static func quoted(_ text: String) -> String {
    let safe = text.filter { $0.isASCII && !($0.asciiValue ?? 0 < 32) }
    return "\"" + safe.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

}
