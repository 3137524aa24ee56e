internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The egress proxy for http and https: a proxy on 127.0.0.1, for this process only.
///
/// libavformat follows redirects and playlists, and resolves names itself, after the service has checked the
/// URL; so does the webhooks' HTTP client. Therefore both connect through this proxy. For each hop, the proxy
/// resolves the name once, checks every address, and connects to one of the checked addresses.
final class EgressProxy: Sendable {
  private struct State {
    /// The passwords, by client name.
    var clients: [String: String] = [:]
    var connections: [ObjectIdentifier: Connection] = [:]
    var channel: (any Channel)?
    var refusals: [String: String] = [:]
  }

  /// An open connection to the proxy.
  private struct Connection {
    let channel: any Channel
    /// The name of the client; `nil` until it has authenticated.
    var client: String?
  }

  private let state = Mutex(State())
  private let rules: AddressRules
  private let resolver: any Resolver
  private let logger: Logger
  private let maxConnections: Int
  private let onRefusal: @Sendable (_ client: String, _ reason: String) -> Void

  /// - Parameter onRefusal: Receives the name of each client that asked for a forbidden address, and which.
  init(
    rules: AddressRules, resolver: any Resolver, logger: Logger, maxConnections: Int = 256,
    onRefusal: @escaping @Sendable (_ client: String, _ reason: String) -> Void
  ) {
    self.onRefusal = onRefusal
    self.rules = rules
    self.resolver = resolver
    self.logger = logger
    self.maxConnections = maxConnections
  }

  /// Binds the proxy to a free port of 127.0.0.1.
  func start() async throws {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: true)
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ProxyClientHandler(self))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    state.withLock { $0.channel = channel }
  }

  /// Closes the listening socket. Open connections continue.
  func stop() async {
    let channel = state.withLock { state in
      defer { state.channel = nil }
      return state.channel
    }
    try? await channel?.close().get()
  }

  /// The port on 127.0.0.1; `nil` before `start`.
  var port: Int? { state.withLock { $0.channel?.localAddress?.port } }

  /// Registers a client. Returns the proxy's URL for it, `http://NAME:SECRET@127.0.0.1:PORT`, or `nil` before
  /// `start`. A client that is registered already keeps its first secret.
  func admit(_ name: String, secret: String) -> String? {
    guard let port else { return nil }
    let secret = state.withLock { state in
      let kept = state.clients[name] ?? secret
      state.clients[name] = kept
      return kept
    }
    return "http://\(name):\(secret)@127.0.0.1:\(port)"
  }

  /// Removes a client and closes its connections.
  func dismiss(_ name: String) {
    let channels = state.withLock { state in
      state.clients[name] = nil
      state.refusals[name] = nil
      return state.connections.values.filter { $0.client == name }.map(\.channel)
    }
    for channel in channels { channel.close(promise: nil) }
  }

  /// Returns why the client's last refused hop was refused, or `nil` if none was.
  func refusal(of name: String) -> String? { state.withLock { $0.refusals[name] } }

  private func refused(_ name: String, _ reason: String, on channel: any Channel) {
    state.withLock { state in
      if state.clients[name] != nil { state.refusals[name] = reason }
      // The owner may dismiss the client at once, and the connection must stay open for the response.
      state.connections[ObjectIdentifier(channel)]?.client = nil
    }
    onRefusal(name, reason)
  }

  // MARK: - For the handler

  /// Adds a connection, unless there are too many.
  func mayOpen(_ channel: any Channel) -> Bool {
    state.withLock { state in
      guard state.connections.count < maxConnections else { return false }
      state.connections[ObjectIdentifier(channel)] = Connection(channel: channel)
      return true
    }
  }

  /// Removes a connection.
  func closed(_ channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)] = nil }
  }

  /// Returns whether the request has a client's name and secret. From then on, the connection is the client's.
  func knows(_ request: ProxyRequest, on channel: any Channel) -> Bool {
    guard let user = request.user, let password = request.password else { return false }
    return state.withLock { state in
      guard let secret = state.clients[user], constantTimeEqual(password, secret) else {
        return false
      }
      state.connections[ObjectIdentifier(channel)]?.client = user
      return true
    }
  }

  /// Resolves the host, checks each of its addresses, and connects to one of them, for a request on `channel`.
  func connect(_ request: ProxyRequest, for channel: any Channel) async throws -> any Channel {
    do {
      let addresses = try await resolver.addresses(of: request.host)
      // One forbidden address is enough to reject the name: it may be an attempt to bypass the rules.
      for address in addresses { try rules.check(hop: address, port: request.port) }
      var failure: (any Error)?
      for address in addresses.prefix(4) {
        do {
          return try await ClientBootstrap(group: channel.eventLoop).connectTimeout(.seconds(10))
            .channelOption(.autoRead, value: false)
            .connect(to: SocketAddress(ipAddress: address.description, port: request.port)).get()
        } catch { failure = error }
      }
      throw failure ?? Refusal("no address")
    } catch let refusal as Refusal {
      logger.warning("connection to \(request.host):\(request.port) refused: \(refusal.reason)")
      if let user = request.user {
        refused(user, "\(request.host):\(request.port): \(refusal.reason)", on: channel)
      }
      throw refusal
    }
  }
}
