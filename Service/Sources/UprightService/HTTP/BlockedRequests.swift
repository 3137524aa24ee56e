internal import HTTPTypes
internal import Synchronization

/// Limits the requests that wait for a playlist or a part, in all and of one session. A connection has at most one,
/// so some connections remain for other requests.
final class BlockedRequests: Sendable {
  private let limit: Int
  private let sessionLimit: Int
  private let counts = Mutex<(all: Int, sessions: [String: Int])>((0, [:]))

  /// - Parameter connections: The maximum number of HTTP connections. Three quarters of them may wait, and half of
  ///   them for one session.
  init(connections: Int) {
    limit = max(1, connections / 4 * 3)
    sessionLimit = max(1, connections / 2)
  }

  /// Performs a request that may wait.
  ///
  /// - Throws: `Problem` 503 if too many requests wait.
  func wait<Value: Sendable>(
    for session: String, _ body: () async -> Value
  ) async throws(Problem) -> Value {
    let isFull = counts.withLock { counts in
      guard counts.all < limit, counts.sessions[session, default: 0] < sessionLimit else {
        return true
      }
      counts.all += 1
      counts.sessions[session, default: 0] += 1
      return false
    }
    if isFull {
      throw Problem(
        .serviceUnavailable, "Limit reached", "too many requests wait for this playlist",
        retryAfter: 1)
    }
    let value = await body()
    counts.withLock { counts in
      counts.all -= 1
      let left = counts.sessions[session, default: 1] - 1
      counts.sessions[session] = left > 0 ? left : nil
    }
    return value
  }
}
