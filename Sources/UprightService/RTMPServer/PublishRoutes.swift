internal import Synchronization
internal import UprightLive

/// The stream paths that sessions expect publishers for, at one port.
///
/// A stream's path (`app/key`) is a secret. A lookup compares it with all paths in constant time, so that the
/// response time doesn't reveal how much of a guess was right.
final class PublishRoutes: Sendable {
  /// The destination of a publisher's stream.
  struct Route: Sendable {
    let session: String
    let feed: PublishedFeed
  }

  private struct State {
    var routes: [String: Route] = [:]
    /// Paths that are being published.
    var taken: Set<String> = []
  }

  private let state = Mutex(State())
  let peers: PeerLimit

  init(peers: PeerLimit) { self.peers = peers }

  /// Registers `path`. Returns `false` if it is registered already.
  func add(_ path: String, _ route: Route) -> Bool {
    state.withLock { state in
      guard state.routes[path] == nil else { return false }
      state.routes[path] = route
      return true
    }
  }

  func remove(_ path: String) { state.withLock { _ = $0.routes.removeValue(forKey: path) } }

  var isEmpty: Bool { state.withLock { $0.routes.isEmpty } }

  /// The result of a lookup: the route, or why the publisher is rejected.
  enum Lookup: Sendable {
    case route(Route, path: String)
    case unknown, taken
  }

  /// Looks up `path` for a publisher and reserves it until `leave`.
  func enter(_ path: String) -> Lookup {
    state.withLock { state in
      var found: (String, Route)?
      for (key, route) in state.routes where constantTimeEqual(path, key) { found = (key, route) }
      guard let (key, route) = found else { return .unknown }
      guard state.taken.insert(key).inserted else { return .taken }
      return .route(route, path: key)
    }
  }

  func leave(_ path: String) { state.withLock { _ = $0.taken.remove(path) } }
}
