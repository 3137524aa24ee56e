package import RotationPolicy

/// Everything about the service that can be set, with its defaults.
package struct ServiceConfiguration: Sendable {
  /// Where HTTP is served.
  package var listen = Endpoint(host: "127.0.0.1", port: 8080)
  /// The folder that everything is written under.
  package var data = "upright-data"
  /// The admin token; nil: that of the data folder, made at the first start.
  package var token: String?
  /// Hosts that http inputs and webhooks may name.
  package var allowHosts: [String] = []
  /// Sessions that run at a time.
  package var maxSessions = 16
  /// HTTP connections at a time.
  package var maxConnections = 1024
  /// Bytes of a request's body.
  package var bodyLimit = 1 << 20
  /// Seconds that a shutdown may take.
  package var drainTimeout = 10.0
  /// Sessions to begin with, as they would be posted; each has a name.
  package var sessions: [JSONValue] = []
  /// Webhooks to begin with, as they would be posted.
  package var webhooks: [JSONValue] = []

  /// The defaults.
  package init() {}

  /// A host and a port.
  package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// Reads `HOST:PORT`, `[::1]:PORT`, `:PORT` (all addresses), `PORT` (of 127.0.0.1) or `HOST`; nil for
    /// anything else.
    package init?(_ text: String) {
      if text.allSatisfy(\.isNumber) {
        guard let port = UInt16(text) else { return nil }
        self.init(host: "127.0.0.1", port: Int(port))
        return
      }
      let text = text.hasPrefix(":") ? "0.0.0.0\(text)" : text
      // Port 0, which asks for any free one, is no port of a URL.
      let isAny = text.hasSuffix(":0")
      guard let url = StreamURL("http://" + (isAny ? String(text.dropLast(2)) : text)),
        url.path.isEmpty, url.query == nil, url.userinfo == nil
      else { return nil }
      self.init(host: url.host, port: isAny ? 0 : url.port ?? 8080)
    }

    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
  }
}
