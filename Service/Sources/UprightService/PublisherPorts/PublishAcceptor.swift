internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The RTMP, RTMPS and SRT ports. Each is one listening socket for any number of publishers, bound while a session
/// expects one.
final class PublishAcceptor: Sendable {
  typealias Destination = PublishRoutes.Destination

  /// A claimed stream path, needed for `release`.
  struct Claim: Sendable, Hashable {
    fileprivate let endpoint: Endpoint
    let path: String
  }

  private struct Listener {
    let routes: PublishRoutes
    /// The bound port.
    let port: Int?
    let close: @Sendable () async -> Void
  }

  fileprivate struct Endpoint: Sendable, Hashable {
    let host: String
    let port: Int
    let scheme: PublishScheme
  }

  private enum ListenerState {
    case bound(Listener)
    /// Being bound or closed. Other claims of the port wait for the task.
    case changing(Task<Problem?, Never>)
  }

  private enum ClaimStep {
    case done, taken, full
    case wait(Task<Problem?, Never>)
  }

  private let listeners = Mutex<[Endpoint: ListenerState]>([:])
  private let logger: Logger
  private let maxPorts: Int
  private let maxPerPeer: Int
  private let timeouts: PublisherHandler.Timeouts
  private let certificate: ServerCertificate?
  private let droppedBySRT = Atomic(0)

  /// The number of packets that SRT has dropped, because they were late or the session had no room.
  var srtDrops: Int { droppedBySRT.load(ordering: .relaxed) }

  init(
    logger: Logger, maxPorts: Int = 16, maxPerPeer: Int = 64,
    timeouts: PublisherHandler.Timeouts = .init(), certificate: ServerCertificate? = nil
  ) {
    self.logger = logger
    self.maxPorts = maxPorts
    self.maxPerPeer = maxPerPeer
    self.timeouts = timeouts
    self.certificate = certificate
  }

  /// Registers `path`, or the text of a pattern, for publishers. The port is bound when this returns.
  ///
  /// - Parameter passphrase: With which publishers by SRT encrypt; `nil` if they don't.
  /// - Throws: `Problem` if another session uses the path, the port can't be bound, too many ports are bound, or
  ///   there is no certificate for TLS.
  func claim(
    host: String, port: Int, scheme: PublishScheme = .rtmp, path: String,
    passphrase: String? = nil, for destination: Destination
  ) async throws(Problem) -> Claim {
    if scheme == .rtmps, certificate == nil {
      throw .unprocessable(
        "rtmps: the service has no certificate; start it with --tls-cert and --tls-key")
    }
    let endpoint = Endpoint(host: host, port: port, scheme: scheme)
    // A previous user of the port may close it again in the meantime.
    for _ in 0..<8 {
      switch step(endpoint, path, destination, passphrase) {
      case .done: return Claim(endpoint: endpoint, path: path)
      case .taken: throw .conflict("another session uses this stream path")
      case .full: throw .tooMany("\(maxPorts) ports for publishers are already bound")
      case .wait(let task): if let problem = await task.value { throw problem }
      }
    }
    throw .conflict("port \(port) of \(host) is being closed")
  }

  /// Registers `path` at the host and port of an rtmp, rtmps or srt URL.
  func claim(
    _ url: StreamURL, path: String, for destination: Destination
  ) async throws(Problem) -> Claim {
    let scheme = PublishScheme(rawValue: url.scheme) ?? .rtmp
    return try await claim(
      host: url.host == "localhost" ? "127.0.0.1" : url.host, port: url.port ?? scheme.port,
      scheme: scheme, path: path, passphrase: url.passphrase, for: destination)
  }

  /// Adds a route to a bound port, or starts to bind the port. Concurrent claims share one bind.
  private func step(
    _ endpoint: Endpoint, _ path: String, _ destination: Destination, _ passphrase: String?
  ) -> ClaimStep {
    listeners.withLock { listeners in
      switch listeners[endpoint] {
      case .bound(let listener)?:
        return listener.routes.add(path, destination, passphrase: passphrase) ? .done : .taken
      case .changing(let task)?: return .wait(task)
      case nil:
        guard listeners.count < maxPorts else { return .full }
        let task = Task { await self.open(endpoint) }
        listeners[endpoint] = .changing(task)
        return .wait(task)
      }
    }
  }

  /// Binds the port. Returns a `Problem` if that fails.
  private func open(_ endpoint: Endpoint) async -> Problem? {
    let routes = PublishRoutes(
      peers: PeerLimit(perPeer: maxPerPeer, total: 1024), scheme: endpoint.scheme)
    do {
      let listener = try await bind(endpoint, routes)
      listeners.withLock { $0[endpoint] = .bound(listener) }
      return nil
    } catch {
      listeners.withLock { $0[endpoint] = nil }
      return .conflict("can't bind port \(endpoint.port) of \(endpoint.host); is it in use?")
    }
  }

  private func bind(_ endpoint: Endpoint, _ routes: PublishRoutes) async throws -> Listener {
    if endpoint.scheme == .srt {
      let port = try SRTPort(
        host: endpoint.host, port: endpoint.port, routes, logger, silence: timeouts.silence
      ) { [weak self] in self?.droppedBySRT.wrappingAdd($0, ordering: .relaxed) }
      return Listener(routes: routes, port: port.number) { port.close() }
    }
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 64)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { [logger, timeouts, certificate] channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if endpoint.scheme == .rtmps, let certificate {
            try pipeline.addHandler(certificate.makeHandler())
          }
          try pipeline.addHandler(PublisherHandler(routes, logger, timeouts))
        }
      }
      .bind(host: endpoint.host, port: endpoint.port).get()
    return Listener(routes: routes, port: channel.localAddress?.port) {
      try? await channel.close().get()
    }
  }

  /// Releases a claim. Closes the port with its last claim.
  func release(_ claim: Claim) async {
    let endpoint = claim.endpoint
    let closing: Task<Problem?, Never>? = listeners.withLock { listeners in
      guard case .bound(let listener)? = listeners[endpoint] else { return nil }
      listener.routes.remove(claim.path)
      guard listener.routes.isEmpty else { return nil }
      let task = Task<Problem?, Never> {
        await listener.close()
        self.listeners.withLock { $0[endpoint] = nil }
        return nil
      }
      listeners[endpoint] = .changing(task)
      return task
    }
    _ = await closing?.value
  }

  /// Returns the bound port for `port`, which may be 0, or `nil` if it isn't bound.
  func boundPort(host: String, port: Int, scheme: PublishScheme = .rtmp) -> Int? {
    let endpoint = Endpoint(host: host, port: port, scheme: scheme)
    guard case .bound(let listener)? = listeners.withLock({ $0[endpoint] }) else { return nil }
    return listener.port
  }
}
