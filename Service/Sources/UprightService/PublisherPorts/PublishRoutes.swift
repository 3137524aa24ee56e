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
    /// Called before the session's publisher is let in. Throws if there is no room for its work.
    var admit: @Sendable () throws(Problem) -> Void = {}
  }

  /// Lets in the publishers whose streams match a pattern.
  struct Admission: Sendable {
    /// Throws the refusal of a publisher if it is certain already, as for a wrong key.
    let check: @Sendable (PublishRequest) throws(PublishRefusal) -> Void
    /// Returns the destination.
    let admit: @Sendable (PublishRequest) async throws(PublishRefusal) -> Route
  }

  /// What a path leads to.
  enum Destination: Sendable {
    case session(Route)
    case pattern(StreamPattern, Admission)
  }

  private struct Entry {
    let path: String
    let destination: Destination
    /// The passphrase of its publishers; `nil` if they don't encrypt.
    let passphrase: String?
  }

  private struct State {
    /// In the order in which they were added.
    var entries: [Entry] = []
    /// The sessions that have a publisher.
    var taken: Set<String> = []
  }

  private let state = Mutex(State())
  let peers: PeerLimit
  let scheme: PublishScheme

  init(peers: PeerLimit, scheme: PublishScheme) {
    self.peers = peers
    self.scheme = scheme
  }

  /// Registers `path`, which may be the text of a pattern. Returns `false` if it is registered already.
  func add(_ path: String, _ destination: Destination, passphrase: String? = nil) -> Bool {
    state.withLock { state in
      guard !state.entries.contains(where: { $0.path == path }) else { return false }
      state.entries.append(Entry(path: path, destination: destination, passphrase: passphrase))
      return true
    }
  }

  func remove(_ path: String) {
    state.withLock { $0.entries.removeAll { $0.path == path } }
  }

  var isEmpty: Bool { state.withLock { $0.entries.isEmpty } }

  /// Returns the passphrase of a publisher's stream, or `nil` if it has none, before the publisher is let in.
  ///
  /// - Parameter yields: Returns whether the publisher of a session gives way to another one.
  /// - Throws: The refusal, if it is certain already.
  func passphrase(
    of request: PublishRequest, yields: (_ session: String) -> Bool
  ) throws(PublishRefusal) -> String? {
    let entry = try entry(of: request)
    switch entry.destination {
    case .session(let route):
      if route.feed.isClosed { throw Self.ended }
      if state.withLock({ $0.taken.contains(route.session) }), !yields(route.session) {
        throw Self.taken
      }
    case .pattern(_, let admission): try admission.check(request)
    }
    return entry.passphrase
  }

  /// Finds the destination of a publisher and starts a connection to its feed, until `leave`. A session's path
  /// comes before patterns, and of several patterns the first is used.
  ///
  /// - Parameter replace: Disconnects the publisher of a session if it gives way to another one, and returns whether
  ///   that is so.
  func enter(
    _ request: PublishRequest,
    replace: @Sendable (_ session: String) async -> Bool = { _ in false }
  ) async throws(PublishRefusal) -> Route {
    let route: Route =
      switch try entry(of: request).destination {
      case .session(let route): route
      case .pattern(_, let admission): try await admission.admit(request)
      }
    if !take(route) {
      guard await replace(route.session), take(route) else { throw Self.taken }
    }
    do throws(Problem) { try route.admit() } catch {
      leave(route)
      throw PublishRefusal(error.detail, .denied)
    }
    guard route.feed.begin(scheme.container) else {
      leave(route)
      throw Self.ended
    }
    return route
  }

  private static let taken = PublishRefusal("the stream already has a publisher", .taken)
  private static let ended = PublishRefusal("the session has ended")

  private func take(_ route: Route) -> Bool {
    state.withLock { $0.taken.insert(route.session).inserted }
  }

  private func entry(of request: PublishRequest) throws(PublishRefusal) -> Entry {
    var exact: Entry?
    var matching: Entry?
    for entry in state.withLock({ $0.entries }) {
      switch entry.destination {
      case .session: if constantTimeEqual(request.path, entry.path) { exact = entry }
      case .pattern(let pattern, _):
        if matching == nil, pattern.matches(request) { matching = entry }
      }
    }
    guard let entry = exact ?? matching else {
      throw PublishRefusal("no session expects this stream")
    }
    return entry
  }

  /// Undoes `enter`, after the feed's connection has ended.
  func leave(_ route: Route) { state.withLock { _ = $0.taken.remove(route.session) } }
}
