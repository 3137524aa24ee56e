internal import Synchronization

/// Counts connections, so that no peer takes all that there may be.
final class PeerLimit: Sendable {
  private let connections = Mutex<[String: Int]>([:])
  private let perPeer: Int
  private let total: Int

  /// - Parameters:
  ///   - perPeer: connections that one address may have at a time.
  ///   - total: connections that all may have.
  init(perPeer: Int, total: Int) {
    self.perPeer = perPeer
    self.total = total
  }

  /// Counts a connection from `peer`; false if there are enough.
  func enter(_ peer: String) -> Bool {
    connections.withLock { connections in
      guard connections[peer, default: 0] < perPeer, connections.values.reduce(0, +) < total else {
        return false
      }
      connections[peer, default: 0] += 1
      return true
    }
  }

  /// Takes back one `enter` that returned true.
  func leave(_ peer: String) {
    connections.withLock { connections in
      guard let count = connections[peer] else { return }
      connections[peer] = count > 1 ? count - 1 : nil
    }
  }
}
