internal import Synchronization
internal import Upright

/// The streams that are expected at one port: those of sessions, by their paths, and those of patterns.
///
/// The path of a session's stream (`app/key`) is a secret. A lookup compares it with all paths in constant time,
/// so that the response time doesn't reveal how much of a guess was right.
final class PublishRoutes: Sendable {
  /// The destination of a publisher's stream.
  struct Route: Sendable {
    let session: String
    let feed: PublishedFeed
  }

  /// Returns the destination of a publisher whose stream matches a pattern.
  typealias Admission = @Sendable (PublishRequest) async throws(PublishRefusal) -> Route

  /// What a path leads to.
  enum Destination: Sendable {
    case session(Route)
    case pattern(StreamPattern, Admission)
  }

  private struct State {
    /// In the order in which they were added.
    var destinations: [(path: String, destination: Destination)] = []
    /// The sessions that have a publisher.
    var taken: Set<String> = []
  }

  private let state = Mutex(State())
  let peers: PeerLimit
  /// Whether publishers use TLS.
  let isSecure: Bool

  init(peers: PeerLimit, isSecure: Bool) {
    self.peers = peers
    self.isSecure = isSecure
  }

  /// Registers `path`, which may be the text of a pattern. Returns `false` if it is registered already.
  func add(_ path: String, _ destination: Destination) -> Bool {
    state.withLock { state in
      guard !state.destinations.contains(where: { $0.path == path }) else { return false }
      state.destinations.append((path, destination))
      return true
    }
  }

  func remove(_ path: String) {
    state.withLock { $0.destinations.removeAll { $0.path == path } }
  }

  var isEmpty: Bool { state.withLock { $0.destinations.isEmpty } }

  /// Finds the destination of a publisher and starts a connection to its feed, until `leave`. A session's path
  /// comes before patterns, and of several patterns the first is used.
  func enter(_ request: PublishRequest) async throws(PublishRefusal) -> Route {
    let route = try await route(of: request)
    guard state.withLock({ $0.taken.insert(route.session).inserted }) else {
      throw PublishRefusal("the stream already has a publisher")
    }
    guard route.feed.begin() else {
      leave(route)
      throw PublishRefusal("the session has ended")
    }
    return route
  }

  private func route(of request: PublishRequest) async throws(PublishRefusal) -> Route {
    var route: Route?
    var admission: Admission?
    for (path, destination) in state.withLock({ $0.destinations }) {
      switch destination {
      case .session(let found): if constantTimeEqual(request.path, path) { route = found }
      case .pattern(let pattern, let admit):
        if admission == nil, pattern.matches(request) { admission = admit }
      }
    }
    if let route { return route }
    guard let admission else { throw PublishRefusal("no session expects this stream") }
    return try await admission(request)
  }

  /// Undoes `enter`, after the feed's connection has ended.
  func leave(_ route: Route) { state.withLock { _ = $0.taken.remove(route.session) } }
}
