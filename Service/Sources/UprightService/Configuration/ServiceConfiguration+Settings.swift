internal import UprightOrientation
package import UprightPolicy

extension ServiceConfiguration {
  /// One setting, for reading, for the help and for the documented configuration.
  package struct Setting: Sendable {
    /// The name in the configuration file, and of `flags`.
    package let name: String
    /// The environment variable. `nil` if the setting is a list, which only the file can have.
    package let variable: String?
    /// The meaning, with units and range.
    package let help: String
    /// The setting's value in a configuration, as it is written in the file.
    let value: @Sendable (ServiceConfiguration) -> JSONValue

    /// The value without configuration. `null` if there is none.
    package var standard: JSONValue { value(ServiceConfiguration()) }
  }

  /// The environment variable of the token, which no file and no command line contains.
  package static let tokenVariable = "UPRIGHT_TOKEN"

  /// Members of the configuration file whose key starts with this are comments.
  static let commentMark = "//"

  /// All settings, in the order of the documentation.
  package static let settings = [
    Setting(
      name: "listen", variable: "UPRIGHT_LISTEN",
      help: "HOST:PORT of the HTTP server. A host of 0.0.0.0 or [::] means all addresses."
    ) { .string($0.listen.description) },
    Setting(
      name: "publicURL", variable: "UPRIGHT_PUBLIC_URL",
      help: "The start of absolute URLs in responses, as clients reach the service: "
        + "https://live.example.com. Without it, they have the host of each request, which behind a "
        + "proxy may be another one."
    ) { $0.publicURL.map(JSONValue.string) ?? .null },
    Setting(
      name: "data", variable: "UPRIGHT_DATA",
      help: "The folder for all files that the service writes."
    ) { .string($0.data) },
    Setting(
      name: "tokenFile", variable: "UPRIGHT_TOKEN_FILE",
      help: "A file with the admin token, of 16 or more characters. Without it, and without "
        + "\(tokenVariable), a token is generated at the first start and kept in "
        + ".upright/token in the data folder."
    ) { $0.tokenFile.map(JSONValue.string) ?? .null },
    Setting(
      name: "allowHosts", variable: "UPRIGHT_ALLOW_HOSTS",
      help: "The hosts allowed for http inputs and webhooks: example.com, *.example.com, "
        + "10.0.0.5:8000. In the environment they are separated by commas."
    ) { .array($0.allowHosts.map(JSONValue.string)) },
    Setting(
      name: "maxSessions", variable: "UPRIGHT_MAX_SESSIONS",
      help: "The maximum number of running sessions, 1 to 1000."
    ) { .integer($0.maxSessions) },
    Setting(
      name: "maxConnections", variable: "UPRIGHT_MAX_CONNECTIONS",
      help: "The maximum number of HTTP connections, 1 to 100000. One peer can have half of them."
    ) { .integer($0.maxConnections) },
    Setting(
      name: "bodyLimit", variable: "UPRIGHT_BODY_LIMIT",
      help: "The maximum size of a request's body, in bytes, 1024 to 67108864."
    ) { .integer($0.bodyLimit) },
    Setting(
      name: "drainTimeout", variable: "UPRIGHT_DRAIN_TIMEOUT",
      help: "The maximum duration of a shutdown, in seconds, 1 to 600."
    ) { .integer(Int(clamping: $0.drainTimeout)) },
    Setting(
      name: "tlsCert", variable: "UPRIGHT_TLS_CERT",
      help: "A PEM file with the certificate and its chain, for HTTPS and RTMPS. Needs tlsKey."
    ) { $0.tlsCert.map(JSONValue.string) ?? .null },
    Setting(
      name: "tlsKey", variable: "UPRIGHT_TLS_KEY",
      help: "A PEM file with the certificate's private key."
    ) { $0.tlsKey.map(JSONValue.string) ?? .null },
    Setting(
      name: "playback", variable: "UPRIGHT_PLAYBACK",
      help: "Who may play a session that doesn't say so: open or signed."
    ) { .string($0.playback.rawValue) },
    Setting(
      name: "playbackKeyFile", variable: "UPRIGHT_PLAYBACK_KEY_FILE",
      help:
        "A file with the keys of signed playback URLs. Without it, a key is generated at the first start "
        + "and kept in .upright/playback-keys in the data folder."
    ) { $0.playbackKeyFile.map(JSONValue.string) ?? .null },
    Setting(
      name: "part", variable: "UPRIGHT_PART",
      help: "The longest duration of a part of sessions with low latency, in seconds, 0.1 to 2."
    ) { .number($0.part) },
    Setting(
      name: "hlsOrigin", variable: "UPRIGHT_HLS_ORIGIN",
      help: "The address of an HTTP origin, such as http://10.0.0.5:8000/live, to which the HLS of "
        + "sessions with an epoch is PUT, each in a folder of its name. It must honor If-Match and "
        + "If-None-Match. Players read from there."
    ) { $0.hlsOrigin.map(JSONValue.string) ?? .null },
    Setting(
      name: "hlsOriginTokenFile", variable: "UPRIGHT_HLS_ORIGIN_TOKEN_FILE",
      help: "A file with the bearer token for the origin, if it requires one."
    ) { $0.hlsOriginTokenFile.map(JSONValue.string) ?? .null },
    Setting(
      name: "minFreeSpace", variable: "UPRIGHT_MIN_FREE_SPACE",
      help:
        "The free space of the disk with the data folder below which /readyz answers 503, in bytes or as "
        + "in 16M, 500M, 10G."
    ) { .integer($0.minFreeSpace) },
    Setting(
      name: "recordings", variable: nil,
      help:
        "Which recordings are removed, the oldest first: {\"maxAge\": \"30d\"} those whose last change is "
        + "longer ago, in seconds or as in 90m, 12h, 30d; {\"maxSize\": \"500G\"} those above a total size, in "
        + "bytes or as in 500M, 20G, 2T. One that is being written or downloaded stays."
    ) { $0.recordings.json },
    Setting(
      name: "webrtc", variable: "UPRIGHT_WEBRTC",
      help: "The address of the HTTP API of the WebRTC server Janus on this machine, such as "
        + "http://127.0.0.1:8088/janus. Without it, sessions can't have the input whip."
    ) { $0.webrtc.map(JSONValue.string) ?? .null },
    Setting(
      name: "webrtcSecretFile", variable: "UPRIGHT_WEBRTC_SECRET_FILE",
      help: "A file with the API secret of Janus, if it requires one."
    ) { $0.webrtcSecretFile.map(JSONValue.string) ?? .null },
    Setting(
      name: "iceServers", variable: "UPRIGHT_ICE_SERVERS",
      help: "The STUN and TURN servers that publishers by WebRTC are told to use: "
        + "stun:stun.example.com:3478, turn:USER:PASSWORD@turn.example.com:3478. In the environment they are "
        + "separated by commas."
    ) { .array($0.iceServers.map(JSONValue.string)) },
    Setting(
      name: "sessions", variable: nil,
      help: "The sessions that start with the service. Each has the form that POST /v1/sessions "
        + "accepts (see /openapi.yaml), and must have a name. One whose name has a * is a template: "
        + "each publisher whose stream matches it gets a session."
    ) { .array($0.sessions) },
    Setting(
      name: "onPublish", variable: nil,
      help: "The hook that is asked about each publisher of a template: an object with url, secret "
        + "(16 to 256 bytes) and timeout (0.1 to 60 seconds, 5 if it is missing)."
    ) { $0.onPublish ?? .null },
    Setting(
      name: "webhooks", variable: nil,
      help: "The webhooks that are added at the start, in the form that POST /v1/webhooks accepts."
    ) { .array($0.webhooks) },
  ]

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
