internal import Logging
internal import UprightOrientation

/// What gives access to the service and proves that it is the service: the admin token, the keys of players and
/// publishers, logins, and the certificate.
struct Credentials: Sendable {
  let token: String
  /// Whether this run generated the token, so that it must be shown to the operator.
  let isNewToken: Bool
  /// The certificate of HTTPS and RTMPS; `nil` without TLS.
  let certificate: ServerCertificate?
  let playbackKeys: PlaybackKeys
  let publishLinks: PublishLinks
  let logins: Logins

  /// Reads the credentials of the configuration, or those of an earlier run. Adds what must not be shown to `secrets`.
  ///
  /// - Parameter now: Returns the time, in seconds since 1970.
  /// - Throws: `configuration` if one is invalid, `cannotCreate` if one can't be stored.
  init(
    _ configuration: ServiceConfiguration, _ folders: DataFolders, secrets: Secrets,
    now: @escaping @Sendable () -> Int, logger: Logger
  ) throws(UprightError) {
    (token, isNewToken) = try AdminToken.load(configuration.token, folders)
    secrets.add(token)
    for secret in [configuration.webrtcSecret, configuration.hlsOriginToken] {
      if let secret { secrets.add(secret) }
    }
    certificate =
      if let certificate = configuration.tlsCert, let key = configuration.tlsKey {
        try ServerCertificate(.init(certificate: certificate, key: key), logger: logger)
      } else { nil }
    playbackKeys = try PlaybackKeys(
      configuration.playbackKeyFile, folders, secrets: secrets, now: now)
    publishLinks = PublishLinks(now: now)
    logins = Logins(token: token, now: now)
  }

  /// Reads the certificate and the playback keys again. What can't be read stays as it is, with an error in the
  /// log. Connections and sessions continue.
  func reload(_ logger: Logger) {
    for (what, body) in [
      ("certificate", certificate?.reload), ("playback keys", playbackKeys.reload),
    ] as [(String, (() throws(UprightError) -> Void)?)] {
      guard let body else { continue }
      do throws(UprightError) {
        try body()
        logger.info("reloaded the \(what)")
      } catch { logger.error("keeping the previous \(what): \(error)") }
    }
  }
}
