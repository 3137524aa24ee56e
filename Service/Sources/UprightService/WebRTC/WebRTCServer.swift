internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// The WebRTC server Janus, which receives publishers for the sessions of this service and forwards their RTP.
///
/// Each publisher has a room of its own in Janus' VideoRoom. Rooms that an earlier run or a failed request has left
/// behind are destroyed: they are recognised by their description, and their secret is derived from it.
final class WebRTCServer: Sendable {
  private struct State: Sendable {
    var client: JanusClient?
    /// The descriptions of the rooms in use.
    var rooms: Set<String> = []
    var cleaning: Task<Void, Never>?
  }

  private let url: String
  private let apiSecret: String?
  /// The `Link` headers of the ICE servers (RFC 9725, 4.6).
  let iceLinks: [String]
  /// The key from which the secrets of rooms are derived.
  private let key: String
  private let connections: Int
  private let limits: JanusClient.Limits
  private let logger: Logger
  private let state = Mutex(State())

  /// The time between two attempts to clean up.
  private static let cleanUpInterval = Duration.seconds(5)

  /// - Parameters:
  ///   - url: The address of Janus' HTTP API.
  ///   - key: A secret that stays the same from run to run.
  init(
    _ url: String, _ configuration: ServiceConfiguration, key: String, limits: JanusClient.Limits,
    logger: Logger
  ) {
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    apiSecret = configuration.webrtcSecret
    iceLinks = configuration.iceServers.compactMap { ICEServer($0)?.link }
    self.key = key
    // Each publisher polls on one connection, and sends requests on another when it comes and goes.
    connections = 2 * configuration.maxSessions + 8
    self.limits = limits
    self.logger = logger
  }

  /// Makes the HTTP client and starts to clean up. `stop` must follow.
  func start() {
    let client = JanusClient(
      url: url, secret: apiSecret, connections: connections, limits: limits)
    state.withLock { $0.client = client }
    cleanUp(client)
  }

  /// Closes the connections to Janus.
  func stop() async {
    let (client, task) = state.withLock { state in
      defer { (state.client, state.cleaning) = (nil, nil) }
      return (state.client, state.cleaning)
    }
    task?.cancel()
    await task?.value
    await client?.shutDown()
  }

  // MARK: - Publishers

  /// Gives an offer to Janus, in a new room, and has the streams forwarded to `feed`.
  ///
  /// - Parameter bitrate: The limit for the video, in bits per second; `nil` for none.
  /// - Throws: `Problem` 409, 422 or 503.
  func publish(
    _ offer: PublishOffer, session: String, to feed: ForwardedFeed, bitrate: Int?
  ) async throws -> Publication {
    guard let client = state.withLock({ $0.client }) else { throw Problem.draining() }
    let description = prefix + session + " " + Secrets.make()
    state.withLock { _ = $0.rooms.insert(description) }
    let didEnd: @Sendable (Bool) -> Void = { [weak self] isDestroyed in
      self?.state.withLock { _ = $0.rooms.remove(description) }
      if !isDestroyed { self?.cleanUp(client) }
    }
    do {
      let janus: JanusHandle
      do { janus = try await .open(client) } catch {
        didEnd(true)
        throw error
      }
      let publication = Publication(
        offer, janus, feed: feed, description: description, secret: secret(of: description),
        didEnd: didEnd)
      do { try await publication.start(bitrate: bitrate) } catch {
        await publication.end()
        throw error
      }
      return publication
    } catch let error as JanusError {
      let problem = Problem(janus: error)
      if problem.status == .serviceUnavailable { logger.error("\(error.reason)") }
      throw problem
    }
  }

  // MARK: - Rooms

  /// The start of the description of this service's rooms. Other services at the same Janus have other keys.
  private var prefix: String { "upright \(Secrets.hash("rooms", key: key).prefix(16)) " }

  /// Returns the secret of the room with a description.
  private func secret(of description: String) -> String {
    String(Secrets.hash(description, key: key).prefix(32))
  }

  /// Destroys rooms that were left behind, as soon as Janus can be reached.
  private func cleanUp(_ client: JanusClient) {
    state.withLock { state in
      guard state.cleaning == nil, state.client != nil else { return }
      state.cleaning = Task { [weak self] in
        // One that starts with this service isn't there at once.
        var level = Logger.Level.debug
        while !Task.isCancelled {
          do {
            try await self?.destroyRooms(client)
            break
          } catch {
            self?.logger.log(
              level: level,
              "can't clean up at the WebRTC server: \((error as? JanusError)?.reason ?? "")")
            level = .warning
          }
          try? await Task.sleep(for: Self.cleanUpInterval)
        }
        self?.state.withLock { $0.cleaning = nil }
      }
    }
  }

  private func destroyRooms(_ client: JanusClient) async throws(JanusError) {
    let janus = try await JanusHandle.open(client)
    do throws(JanusError) {
      let data = try await janus.request(["request": "list"])
      guard case .array(let rooms)? = data["list"] else {
        throw .noAnswer("the answer has no list of rooms")
      }
      for room in rooms {
        guard let description = room["description"]?.text, description.hasPrefix(prefix),
          let id = room["room"]?.identifier,
          !state.withLock({ $0.rooms.contains(description) })
        else { continue }
        _ = try await janus.request(
          ["request": "destroy", "room": id, "secret": .string(secret(of: description))])
        logger.info("destroyed a room that was left behind at the WebRTC server")
      }
    } catch {
      await janus.close()
      throw error
    }
    await janus.close()
  }
}

extension Problem {
  /// The status and text for a publisher when Janus has failed.
  init(janus error: JanusError) {
    // 465: the offer can't be parsed; 467 and 469: it doesn't fit the state; 436: it isn't valid for the plugin.
    if case .refused(let code, let reason) = error, [436, 465, 467, 469].contains(code) {
      self = .unprocessable("the WebRTC server doesn't accept the offer: \(reason)")
    } else {
      self = Problem(
        .serviceUnavailable, "WebRTC server unavailable", error.reason,
        retryAfter: error.isGone ? 1 : 5)
    }
  }
}
