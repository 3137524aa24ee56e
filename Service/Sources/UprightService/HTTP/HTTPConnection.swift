internal import HummingbirdCore
internal import Logging
internal import NIOCore

/// The channel of one HTTP connection: TLS with the current certificate, if there is one, then HTTP/1.1.
///
/// Hummingbird's own TLS channel keeps the certificate that it was created with.
struct HTTPConnection: ServerChildChannel {
  let http: HTTP1Channel
  let certificate: ServerCertificate?

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    guard let certificate else { return http.setup(channel: channel, logger: logger) }
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(certificate.makeHandler())
    }.flatMap { http.setup(channel: channel, logger: logger) }
  }

  /// Handles the connection's requests on its event loop. Otherwise each request would go from there to the cooperative
  /// thread pool and its response back, and many that are answered at once would wait for each other twice.
  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    let executor = EventLoopExecutor(eventLoop: value.channel.eventLoop)
    await withTaskExecutorPreference(executor) { await http.handle(value: value, logger: logger) }
  }
}

/// Runs the jobs of tasks on an event loop.
private final class EventLoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

extension HTTPServerBuilder {
  /// Returns a server of HTTP/1.1, with TLS if there is a certificate.
  static func http1(
    _ configuration: HTTP1Channel.Configuration, certificate: ServerCertificate?
  ) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      HTTPConnection(
        http: HTTP1Channel(responder: responder, configuration: configuration),
        certificate: certificate)
    }
  }
}
