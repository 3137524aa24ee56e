internal import Foundation

/// The head of a request to a proxy (RFC 9110, 7.3.2 and 9.3.6).
struct ProxyRequest: Sendable, Hashable {
  var host: String
  var port: Int
  /// Whether the method is CONNECT.
  var isTunnel: Bool
  /// The client's name and secret: user and password of `Proxy-Authorization: Basic`.
  var user: String?
  var password: String?
  /// The head to send to the server; empty for a tunnel.
  var forwarded: String

  /// Parses a head, from the request line up to the empty line (exclusive). Returns `nil` if it isn't HTTP/1
  /// or isn't a request to a proxy.
  init?(head: String) {
    var lines = head.components(separatedBy: "\r\n")
    guard !lines.isEmpty else { return nil }
    let words = lines.removeFirst().components(separatedBy: " ")
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
      (1...16).contains(words[0].utf8.count),
      words[0].utf8.allSatisfy({ (65...90).contains($0) })
    else { return nil }
    isTunnel = words[0] == "CONNECT"
    let url = StreamURL(isTunnel ? "http://\(words[1])" : words[1])
    guard let url, url.scheme == "http", !isTunnel || url.port != nil && url.path.isEmpty,
      url.userinfo == nil
    else { return nil }
    host = url.host
    port = url.port ?? 80
    guard let fields = Self.fields(lines) else { return nil }
    for field in fields where field.name == "proxy-authorization" {
      let parts = field.value.split(separator: " ")
      guard parts.count == 2, parts[0].lowercased() == "basic",
        let data = Data(base64Encoded: String(parts[1]))
      else { return nil }
      let text = String(decoding: data, as: UTF8.self)
      guard let colon = text.firstIndex(of: ":") else { return nil }
      user = String(text[..<colon])
      password = String(text[text.index(after: colon)...])
    }
    forwarded = ""
    if !isTunnel { forwarded = Self.forwarded(method: words[0], url, fields, lines) }
  }

  private static func fields(_ lines: [String]) -> [(name: String, value: String)]? {
    var fields: [(String, String)] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), line.first != " ", line.first != "\t" else {
        return nil
      }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      fields.append((line[..<colon].lowercased(), value))
    }
    return fields
  }

  /// Returns the head for the server. It has `Connection: close`, because the client's next request may be
  /// for another host, which must be checked as well.
  private static func forwarded(
    method: String, _ url: StreamURL, _ fields: [(name: String, value: String)], _ lines: [String]
  ) -> String {
    let target = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?\($0)" } ?? "")
    var text = "\(method) \(target) HTTP/1.1\r\n"
    let own = [
      "proxy-authorization", "proxy-connection", "connection", "keep-alive", "upgrade", "te",
    ]
    for (field, line) in zip(fields, lines) where !own.contains(field.name) {
      text += line + "\r\n"
    }
    if !fields.contains(where: { $0.name == "host" }) {
      text += "Host: \(url.host.contains(":") ? "[\(url.host)]" : url.host)"
      text += (url.port.map { ":\($0)" } ?? "") + "\r\n"
    }
    return text + "Connection: close\r\n\r\n"
  }
}
