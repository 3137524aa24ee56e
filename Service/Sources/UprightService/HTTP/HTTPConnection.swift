internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// The channel of one HTTP connection: TLS with the current certificate, if there is one, then HTTP/1.1, behind a
/// `RequestGuard`.
///
/// Hummingbird's own TLS channel keeps the certificate that it was created with.
struct HTTPConnection: ServerChildChannel {
  let http: HTTP1Channel
  let certificate: ServerCertificate?
  let connections: OpenConnections
  /// The time limit of a connection's first request and the TLS handshake before it, and of the progress of a body.
  let timeout: TimeAmount

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    channel.eventLoop.makeCompletedFuture {
      guard let certificate else { return }
      try channel.pipeline.syncOperations.addHandler(certificate.makeHandler())
    }.flatMap { http.setup(channel: channel, logger: logger) }
      .flatMapThrowing { value in
        let pipeline = channel.pipeline.syncOperations
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        try pipeline.addHandler(
          RequestGuard(connections, timeout: timeout), position: .after(decoder))
        return value
      }
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
  ///
  /// - Parameters:
  ///   - connections: The maximum number of open connections.
  ///   - timeout: The time limit of a connection's first request, and of the progress of a body.
  static func http1(
    certificate: ServerCertificate?, connections: Int, timeout: TimeAmount
  ) -> HTTPServerBuilder {
    let open = OpenConnections(limit: connections)
    return HTTPServerBuilder { responder in
      HTTPConnection(
        http: HTTP1Channel(
          responder: responder, configuration: .init(idleTimeout: .seconds(60))),
        certificate: certificate, connections: open, timeout: timeout)
    }
  }
}
