/// The start of the service's absolute URLs, as its clients see them.
struct PublicURL: Sendable, Hashable {
  /// A scheme and a host, with a port and a path if there are any, and without a slash at the end.
  private let start: String

  private init(start: String) { self.start = start }

  /// For clients that don't say under which name they know the service: URLs without scheme and host.
  static let relative = PublicURL(start: "")

  /// Parses the setting `publicURL`, `https://HOST[:PORT][/PATH]`. Returns `nil` for anything else.
  init?(_ text: String) {
    guard let url = StreamURL(text), url.isHTTP, url.userinfo == nil, url.query == nil else {
      return nil
    }
    start = String(text.reversed().drop { $0 == "/" }.reversed())
  }

  /// Parses a `Host` header, `HOST[:PORT]` (RFC 9110, 7.2). Returns `nil` for anything else.
  init?(host: String, isSecure: Bool) {
    let text = "\(isSecure ? "https" : "http")://\(host)"
    guard let url = StreamURL(text), url.userinfo == nil, url.path.isEmpty, url.query == nil else {
      return nil
    }
    start = text
  }

  /// Whether clients reach the service by HTTPS.
  var isSecure: Bool { start.hasPrefix("https:") }

  /// The host, without a port and without brackets; `nil` for relative URLs.
  var host: String? { StreamURL(start)?.host }

  /// Returns the URL of a path of the service.
  func of(_ path: String) -> String { start + path }
}
