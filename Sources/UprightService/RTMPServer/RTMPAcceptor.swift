internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The RTMP ports: one socket each for any number of publishers, bound while a session awaits one.
final class RTMPAcceptor: Sendable {
  /// What was claimed, to be given back.
  struct Claim: Sendable, Hashable {
    let host: String
    let port: Int
    let path: String
  }

  private struct Listener {
    let routes: PublishRoutes
    let channel: any Channel
  }

  private struct Endpoint: Hashable {
    let host: String
    let port: Int
  }

  private let listeners = Mutex<[Endpoint: Listener]>([:])
  private let logger: Logger
  private let mostPorts: Int
  private let mostPerPeer: Int
  private let patience: PublisherHandler.Patience

  init(
    logger: Logger, mostPorts: Int = 16, mostPerPeer: Int = 64,
    patience: PublisherHandler.Patience = .init()
  ) {
    self.logger = logger
    self.mostPorts = mostPorts
    self.mostPerPeer = mostPerPeer
    self.patience = patience
  }

  /// Awaits a publisher of `path`; the port is bound when this returns.
  ///
  /// - Throws: `Problem` where the path is awaited already or the port cannot be bound.
  func claim(
    host: String, port: Int, path: String, route: PublishRoutes.Route
  ) async throws(Problem) -> Claim {
    let endpoint = Endpoint(host: host, port: port)
    let claim = Claim(host: host, port: port, path: path)
    if try enter(endpoint, path, route) { return claim }
    let routes = PublishRoutes(mostPerPeer: mostPerPeer, most: 1024)
    let channel: any Channel
    do { channel = try await bind(endpoint, routes) } catch {
      // Somebody may have bound it for us in the meantime.
      if try enter(endpoint, path, route) { return claim }
      throw .conflict("port \(port) of \(host) cannot be bound; is it in use?")
    }
    listeners.withLock { $0[endpoint] = Listener(routes: routes, channel: channel) }
    _ = routes.add(path, route)
    return claim
  }

  /// Enters a route at a port that is bound; false where it is not.
  private func enter(
    _ endpoint: Endpoint, _ path: String, _ route: PublishRoutes.Route
  ) throws(Problem) -> Bool {
    let (isBound, isAdded, isFull) = listeners.withLock { listeners in
      guard let listener = listeners[endpoint] else {
        return (false, false, listeners.count >= mostPorts)
      }
      return (true, listener.routes.add(path, route), false)
    }
    if isFull { throw .tooMany("\(mostPorts) RTMP ports are bound already") }
    guard isBound else { return false }
    guard isAdded else { throw .conflict("another session awaits this stream") }
    return true
  }

  private func bind(_ endpoint: Endpoint, _ routes: PublishRoutes) async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.backlog, value: 64)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { [logger, patience] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            PublisherHandler(routes, logger, patience))
        }
      }
      .bind(host: endpoint.host, port: endpoint.port).get()
  }

  /// Gives a claim back; the port is closed with its last one.
  func release(_ claim: Claim) async {
    let endpoint = Endpoint(host: claim.host, port: claim.port)
    let idle: (any Channel)? = listeners.withLock { listeners in
      guard let listener = listeners[endpoint] else { return nil }
      listener.routes.remove(claim.path)
      guard listener.routes.isEmpty else { return nil }
      listeners[endpoint] = nil
      return listener.channel
    }
    try? await idle?.close().get()
  }

  /// The port that was bound for port 0, or for `port`; nil where none is.
  func boundPort(host: String, port: Int) -> Int? {
    listeners.withLock { $0[Endpoint(host: host, port: port)]?.channel.localAddress?.port }
  }
}
