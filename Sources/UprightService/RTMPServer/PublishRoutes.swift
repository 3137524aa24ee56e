internal import Synchronization
internal import UprightLive

/// Which stream names are awaited at one port.
///
/// A stream's path (`app/key`) is its key: it is looked up by comparing with all of them in constant
/// time, so that the time does not tell how much of a guess was right.
final class PublishRoutes: Sendable {
  /// Where a publisher's stream goes to.
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

  /// Awaits a publisher of `path`; false where that is awaited already.
  func add(_ path: String, _ route: Route) -> Bool {
    state.withLock { state in
      guard state.routes[path] == nil else { return false }
      state.routes[path] = route
      return true
    }
  }

  func remove(_ path: String) { state.withLock { _ = $0.routes.removeValue(forKey: path) } }

  var isEmpty: Bool { state.withLock { $0.routes.isEmpty } }

  /// Why a publisher is not taken.
  enum Answer: Sendable {
    case route(Route, path: String)
    case unknown, taken
  }

  /// The way of a publisher that asks for `path`, which is its own until `leave`.
  func enter(_ path: String) -> Answer {
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
