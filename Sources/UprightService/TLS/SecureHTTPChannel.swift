internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// The channel of one HTTPS connection: TLS with the current certificate, then HTTP/1.1.
///
/// Hummingbird's own TLS channel keeps the certificate that it was created with.
struct SecureHTTPChannel: ServerChildChannel {
  let http: HTTP1Channel
  let certificate: ServerCertificate

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(certificate.makeHandler())
    }.flatMap { http.setup(channel: channel, logger: logger) }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await http.handle(value: value, logger: logger)
  }
}

extension HTTPServerBuilder {
  /// Returns a server of HTTP/1.1, with TLS if there is a certificate.
  static func http1(
    _ configuration: HTTP1Channel.Configuration, certificate: ServerCertificate?
  ) -> HTTPServerBuilder {
    guard let certificate else { return .http1(configuration: configuration) }
    return HTTPServerBuilder { responder in
      SecureHTTPChannel(
        http: HTTP1Channel(responder: responder, configuration: configuration),
        certificate: certificate)
    }
  }
}
