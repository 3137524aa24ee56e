internal import Synchronization

/// Counts connections, so that one peer can't use up the limit for all of them.
final class PeerLimit: Sendable {
  private let connections = Mutex<[String: Int]>([:])
  private let perPeer: Int
  private let total: Int

  /// - Parameters:
  ///   - perPeer: The maximum number of simultaneous connections from one address.
  ///   - total: The maximum number of simultaneous connections from all addresses.
  init(perPeer: Int, total: Int) {
    self.perPeer = perPeer
    self.total = total
  }

  /// Counts a connection from `peer`. Returns `false` if a limit is reached.
  func enter(_ peer: String) -> Bool {
    connections.withLock { connections in
      guard connections[peer, default: 0] < perPeer, connections.values.reduce(0, +) < total else {
        return false
      }
      connections[peer, default: 0] += 1
      return true
    }
  }

  /// Undoes one `enter` that returned `true`.
  func leave(_ peer: String) {
    connections.withLock { connections in
      guard let count = connections[peer] else { return }
      connections[peer] = count > 1 ? count - 1 : nil
    }
  }
}
