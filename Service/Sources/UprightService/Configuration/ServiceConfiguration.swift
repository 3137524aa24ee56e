package import UprightPolicy

/// The settings of the service, with their defaults.
package struct ServiceConfiguration: Sendable {
  /// The address and port of the HTTP server.
  package var listen = Endpoint(host: "127.0.0.1", port: 8080)
  /// Whether the phones of the same network reach the service.
  package var lan = false
  /// The address in that network, and whether the certificate is the service's own: see `inNetwork`.
  var lanAddress: IPAddress?
  var hasOwnCertificate = false
  /// The start of absolute URLs in responses; `nil` uses the host of each request.
  package var publicURL: String?
  /// The data folder. The service writes nothing outside it.
  package var data = "upright-data"
  /// The admin token. `nil` uses the token stored in the data folder, which is generated at the first start.
  package var token: String?
  /// The file that `token` was read from.
  package var tokenFile: String?
  /// The hosts allowed for http inputs and webhooks.
  package var allowHosts: [String] = []
  /// The maximum number of running sessions.
  package var maxSessions = 16
  /// The maximum number of sessions that wait for their first publisher.
  package var maxWaiting = 100
  /// The share of the processors in use above which no session may begin, 0 to 1; 1 for no limit.
  package var maxLoad = 1.0
  /// Where the media of sessions runs.
  package var workers = WorkerMode.process
  /// The maximum number of simultaneous HTTP connections.
  package var maxConnections = 1024
  /// The maximum size of a request body, in bytes.
  package var bodyLimit = 1 << 20
  /// The maximum duration of a shutdown, in seconds.
  package var drainTimeout = 10.0
  /// The paths of the PEM files of the TLS certificate and its private key; both `nil` without TLS.
  package var tlsCert: String?
  package var tlsKey: String?
  /// Who may play sessions whose request doesn't say so.
  package var playback = Playback.open
  /// The longest duration of a part of sessions with low latency, in seconds.
  package var part = 0.334
  /// The path of the file with the keys of signed playback URLs; `nil` uses the one in the data folder.
  package var playbackKeyFile: String?
  /// The address of the HTTP origin for the HLS of sessions that may move to another machine; `nil` if there is none.
  package var hlsOrigin: String?
  /// The bearer token for the origin, and the file that it was read from.
  package var hlsOriginToken: String?
  package var hlsOriginTokenFile: String?
  /// The folder whose video files are served as HLS on demand; `nil` if there is none.
  package var library: String?
  /// Whether everybody may list and play the library.
  package var openLibrary = false
  /// The largest size of the library's segments that are kept, in bytes.
  package var cacheSize = 2 << 30
  /// The free space of the data folder's disk below which the service isn't ready, in bytes.
  package var minFreeSpace = 16 << 20
  /// Which recordings are removed.
  var recordings = RecordingRetention()
  /// The address of the HTTP API of the WebRTC server Janus; `nil` if there is none.
  package var webrtc: String?
  /// The API secret of Janus, and the file that it was read from.
  package var webrtcSecret: String?
  package var webrtcSecretFile: String?
  /// The STUN and TURN servers for publishers by WebRTC.
  package var iceServers: [String] = []
  /// The sessions to start with the service, in the form of the API's requests. Each has a name. Those whose name
  /// has a `*` are templates for the sessions of publishers.
  package var sessions: [JSONValue] = []
  /// The hook that decides which publishers a template lets in; `nil` if there is none.
  package var onPublish: JSONValue?
  /// The webhooks to add at the start, in the form of the API's requests.
  package var webhooks: [JSONValue] = []

  /// The path of the configuration file; `nil` if there is none.
  package var file: String?

  /// Creates a configuration with the defaults.
  package init() {}

  /// A host and a port.
  package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
      self.host = host
      self.port = port
    }

    /// Parses `HOST:PORT`, `[::1]:PORT`, `:PORT` (all addresses), `PORT` (of 127.0.0.1) or `HOST`. Returns
    /// `nil` for anything else.
    package init?(_ text: String) {
      if text.allSatisfy(\.isNumber) {
        guard let port = UInt16(text) else { return nil }
        self.init(host: "127.0.0.1", port: Int(port))
        return
      }
      let text = text.hasPrefix(":") ? "0.0.0.0\(text)" : text
      // `StreamURL` rejects port 0, which here means any free port.
      let isAny = text.hasSuffix(":0")
      guard let url = StreamURL("http://" + (isAny ? String(text.dropLast(2)) : text)),
        url.path.isEmpty, url.query == nil, url.userinfo == nil
      else { return nil }
      self.init(host: url.host, port: isAny ? 0 : url.port ?? 8080)
    }

    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
  }
}
