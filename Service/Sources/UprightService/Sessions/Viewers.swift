internal import Synchronization

/// The players of a session's HLS: the clients that have loaded something of it lately.
///
/// A client is an address, with the name of the program and the signature of the URL. Players behind one address with
/// the same program and URL count as one, and behind a cache only it is seen.
final class Viewers: Sendable {
  /// The most clients that are counted.
  static let most = 10_000

  private struct State {
    /// When each client loaded something last, by its hash.
    var seen: [Int: ContinuousClock.Instant] = [:]
    var lastCleaned = ContinuousClock.now
  }

  private let state = Mutex(State())
  /// The time after which a client that loads nothing has left.
  private let patience: Duration

  /// - Parameter segment: The duration of a segment, in seconds. A player loads something in each.
  init(segment: Double) { patience = .seconds(max(6, 3 * segment)) }

  /// Records that a client has loaded something.
  func note(_ client: Int, at now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      if state.seen[client] == nil, state.seen.count >= Self.most {
        // At most once a second, because it looks at all of them.
        guard now - state.lastCleaned >= .seconds(1) else { return }
        clean(&state, now)
        guard state.seen.count < Self.most else { return }
      }
      state.seen[client] = now
    }
  }

  /// Returns the number of clients that are there.
  func count(at now: ContinuousClock.Instant = .now) -> Int {
    state.withLock { state in
      clean(&state, now)
      return state.seen.count
    }
  }

  private func clean(_ state: inout State, _ now: ContinuousClock.Instant) {
    state.seen = state.seen.filter { now - $0.value < patience }
    state.lastCleaned = now
  }
}
