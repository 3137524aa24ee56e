internal import UprightOrientation
package import UprightPolicy

extension ServiceConfiguration {
  /// The environment variable of the token, which no file and no command line contains.
  package static let tokenVariable = "UPRIGHT_TOKEN"

  /// Members of the configuration file whose key starts with this are comments.
  static let commentMark = "//"

  /// All settings, in the order of the documentation.
  package static let settings: [Setting] = [
    .text(
      "listen", "HOST:PORT of the HTTP server. A host of 0.0.0.0 or [::] means all addresses.",
      valid: "HOST:PORT", { $0.listen.description }
    ) { (text, all) in Endpoint(text).map { all.listen = $0 } },
    .flag(
      "lan", \.lan,
      """
      Whether phones in the same network reach the service: it listens on this machine's address there, at the port \
      of listen, with HTTPS, and prints the address with a QR code. Without tlsCert it makes a certificate, which is \
      kept in .upright in the data folder.
      """),
    .text(
      "publicURL", \.publicURL,
      """
      The start of absolute URLs in responses, as clients reach the service: https://live.example.com. Without it, \
      they have the host of each request, which behind a proxy may be another one.
      """, valid: "https://HOST[:PORT][/PATH]"
    ) { PublicURL($0) != nil },
    .text(
      "data", "The folder for all files that the service writes.", valid: "a path", { $0.data }
    ) { (text, all) in all.data = text },
    .secretFile(
      "tokenFile", \.tokenFile, \.token,
      """
      A file with the admin token, of 16 or more characters. Without it, and without \(tokenVariable), a token is \
      generated at the first start and kept in .upright/token in the data folder.
      """, valid: validToken, isValidToken),
    .texts(
      "allowHosts", \.allowHosts,
      "The hosts allowed for http inputs and webhooks: example.com, *.example.com, 10.0.0.5:8000.",
      valid: "example.com, *.example.com or 10.0.0.5:8000"
    ) { HostPattern($0) != nil },
    .integer("maxSessions", \.maxSessions, "The maximum number of running sessions", 1...1000),
    .integer(
      "maxWaiting", \.maxWaiting,
      "The maximum number of sessions that wait for their first publisher, by RTMP, WHIP or at an SRT port with a streamid",
      0...10_000, more: " They don't count for maxSessions."),
    .number(
      "maxLoad", \.maxLoad,
      "The share of the processors in use, over the last seconds, above which a new session is refused",
      0.1...1,
      more: " With 1 none is."),
    .text(
      "workers",
      """
      Where the media of sessions runs: process for a process for each session, so that a stream that crashes FFmpeg's \
      libraries costs its session alone; inProcess for this process, which takes less memory.
      """, valid: "process or inProcess", { $0.workers.rawValue }
    ) { (text, all) in WorkerMode(rawValue: text).map { all.workers = $0 } },
    .integer(
      "maxConnections", \.maxConnections, "The maximum number of HTTP connections", 1...100_000,
      more: " When all are taken, a new one takes the place of one of the peer that has the most."),
    .integer(
      "bodyLimit", \.bodyLimit, "The maximum size of a request's body, in bytes", 1024...64 << 20),
    .number(
      "drainTimeout", \.drainTimeout, "The maximum duration of a shutdown, in seconds", 1...600),
    .text(
      "tlsCert", \.tlsCert,
      "A PEM file with the certificate and its chain, for HTTPS and RTMPS. Needs tlsKey."),
    .text("tlsKey", \.tlsKey, "A PEM file with the certificate's private key."),
    .text(
      "playback", "Who may play a session that doesn't say so: open or signed.",
      valid: "open or signed", { $0.playback.rawValue }
    ) { (text, all) in Playback(rawValue: text).map { all.playback = $0 } },
    .text(
      "playbackKeyFile", \.playbackKeyFile,
      """
      A file with the keys of signed playback URLs. Without it, a key is generated at the first start and kept in \
      .upright/playback-keys in the data folder.
      """),
    .number(
      "part", \.part, "The longest duration of a part of sessions with low latency, in seconds",
      0.1...2),
    .text(
      "hlsOrigin", \.hlsOrigin,
      """
      The address of an HTTP origin, such as http://10.0.0.5:8000/live, to which the HLS of sessions with an epoch is \
      PUT, each in a folder of its name. It must honor If-Match and If-None-Match. Players read from there.
      """, valid: "an address such as http://10.0.0.5:8000/live", isBaseURL),
    .secretFile(
      "hlsOriginTokenFile", \.hlsOriginTokenFile, \.hlsOriginToken,
      "A file with the bearer token for the origin, if it requires one.",
      valid: "a token of ASCII characters without spaces"
    ) { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } },
    .text(
      "library", \.library,
      """
      A folder whose video files are played upright, as HLS on demand, at /vod/PATH/index.m3u8. Nothing is written there, \
      and no link leads out of it. Names that begin with . or ~ are left out.
      """),
    .flag(
      "openLibrary", \.openLibrary,
      "Whether everybody may list and play the library. Without it, the admin token or a signed URL is needed."
    ),
    .bytes(
      "cacheSize", \.cacheSize,
      "The largest total size of the library's segments that are kept in the data folder"),
    .bytes(
      "minFreeSpace", \.minFreeSpace,
      "The free space of the disk with the data folder below which /readyz answers 503"),
    Setting(
      "recordings",
      """
      Which recordings are removed, the oldest first: {"maxAge": "30d"} those whose last change is longer ago, in \
      seconds or as in 90m, 12h, 30d; {"maxSize": "500G"} those above a total size, in bytes or as in 500M, 20G, 2T. \
      One that is being written or downloaded stays.
      """, isInFileOnly: true, value: { $0.recordings.json }
    ) { (value, all) throws(Setting.Fault) in all.recordings = try RecordingRetention(value) },
    .text(
      "webrtc", \.webrtc,
      """
      The address of the HTTP API of the WebRTC server Janus on this machine, such as http://127.0.0.1:8088/janus; \
      or auto: Janus is started if it is installed, and ends with the service. Without it, sessions can't have the \
      input whip.
      """, valid: "auto, or an address such as http://127.0.0.1:8088/janus"
    ) { $0 == "auto" || isBaseURL($0) },
    .secretFile(
      "webrtcSecretFile", \.webrtcSecretFile, \.webrtcSecret,
      "A file with the API secret of Janus, if it requires one."),
    .texts(
      "iceServers", \.iceServers,
      """
      The STUN and TURN servers that publishers by WebRTC are told to use: stun:stun.example.com:3478, \
      turn:USER:PASSWORD@turn.example.com:3478.
      """, valid: "stun:stun.example.com:3478 or turn:USER:PASSWORD@turn.example.com:3478"
    ) { ICEServer($0) != nil },
    Setting(
      "sessions",
      """
      The sessions that start with the service. Each has the form that POST /v1/sessions accepts (see /openapi.yaml), \
      and must have a name. One whose name has a * is a template: each publisher whose stream matches it gets a session.
      """, isInFileOnly: true, value: { .array($0.sessions) }
    ) { (value, all) throws(Setting.Fault) in
      all.sessions = try Setting.elements(value)
      for (index, session) in all.sessions.enumerated() where session["name"]?.text == nil {
        throw Setting.Fault(
          "the session has no name", at: "[\(index)]",
          remedy: "add a name: it identifies the session after a restart")
      }
    },
    Setting(
      "onPublish",
      """
      The hook that is asked about each publisher of a template: an object with url, secret (16 to 256 bytes) and \
      timeout (0.1 to 60 seconds, 5 if it is missing).
      """, isInFileOnly: true, value: { $0.onPublish ?? .null }
    ) { (value, all) in all.onPublish = value },
    Setting(
      "webhooks",
      "The webhooks that are added at the start, in the form that POST /v1/webhooks accepts.",
      isInFileOnly: true, value: { .array($0.webhooks) }
    ) { (value, all) throws(Setting.Fault) in all.webhooks = try Setting.elements(value) },
  ]

  static let validToken = "16 or more characters without spaces"

  static func isValidToken(_ token: String) -> Bool {
    token.utf8.count >= 16 && !token.contains(where: \.isWhitespace)
  }

  /// Whether text is the address of another server, to which paths are appended.
  @Sendable private static func isBaseURL(_ text: String) -> Bool {
    StreamURL(text).map { $0.isHTTP && $0.query == nil && $0.userinfo == nil } ?? false
  }

  /// The configuration as a file that has all settings, each after a comment on its meaning. The token isn't
  /// in it.
  package var documented: JSONValue {
    let title = """
      The configuration of upright serve; see upright.json(5). Keys that start with \(Self.commentMark) are \
      comments, and null means that there is no value.
      """
    return .object(
      [JSONValue.Member(Self.commentMark, .string(title))]
        + Self.settings.flatMap {
          [
            JSONValue.Member("\(Self.commentMark) \($0.name)", .string($0.help)),
            JSONValue.Member($0.name, $0.value(self)),
          ]
        })
  }
}
