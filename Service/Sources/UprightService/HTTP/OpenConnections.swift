internal import NIOCore
internal import Synchronization

/// The open connections of a server, at most a given number.
///
/// When all are taken, a new connection takes the place of one of the peer that has the most, so that peers which
/// open many only harm themselves.
final class OpenConnections: Sendable {
  fileprivate struct Connection: Sendable {
    let channel: any Channel
    let number: Int
    /// Whether a whole request has been received that isn't answered yet.
    var isServing = false
  }

  fileprivate struct State: Sendable {
    var peers: [String: [ObjectIdentifier: Connection]] = [:]
    var count = 0
    var numbers = 0
  }

  private let state = Mutex(State())
  private let limit: Int

  /// - Parameter limit: The maximum number of open connections.
  init(limit: Int) { self.limit = limit }

  /// Adds a connection from `peer`. Closes another one if all are taken. Returns `false` if the new one is to be
  /// closed, because no peer has more than this one.
  func enter(_ channel: any Channel, from peer: String) -> Bool {
    let (isIn, victim) = state.withLock { state -> (Bool, (any Channel)?) in
      var victim: (any Channel)?
      if state.count >= limit {
        guard let (most, id) = state.leastNeeded(for: peer) else { return (false, nil) }
        victim = state.remove(id, of: most)
      }
      state.numbers += 1
      state.peers[peer, default: [:]][ObjectIdentifier(channel)] = Connection(
        channel: channel, number: state.numbers)
      state.count += 1
      return (true, victim)
    }
    victim?.close(promise: nil)
    return isIn
  }

  /// Sets whether a connection's request is being answered. Idle connections are closed first.
  func serve(_ channel: any Channel, from peer: String, _ isServing: Bool) {
    state.withLock { $0.peers[peer]?[ObjectIdentifier(channel)]?.isServing = isServing }
  }

  /// Removes a closed connection.
  func leave(_ channel: any Channel, from peer: String) {
    state.withLock { _ = $0.remove(ObjectIdentifier(channel), of: peer) }
  }
}

extension OpenConnections.State {
  /// Returns the connection to close for a new one from `peer`: of the peer with the most, the one that has been idle
  /// or incomplete since the earliest time, otherwise the oldest. `nil` if `peer` has the most, all of which are
  /// being served.
  fileprivate func leastNeeded(for peer: String) -> (peer: String, ObjectIdentifier)? {
    guard let (most, connections) = peers.max(by: { $0.value.count < $1.value.count }) else {
      return nil
    }
    let isOwn = connections.count <= peers[peer]?.count ?? 0
    let idle = (isOwn ? peers[peer] ?? [:] : connections).filter { !$0.value.isServing }
    let candidates = isOwn || !idle.isEmpty ? idle : connections
    return candidates.min { $0.value.number < $1.value.number }
      .map { (isOwn ? peer : most, $0.key) }
  }

  fileprivate mutating func remove(_ id: ObjectIdentifier, of peer: String) -> (any Channel)? {
    guard let removed = peers[peer]?.removeValue(forKey: id) else { return nil }
    if peers[peer]?.isEmpty == true { peers[peer] = nil }
    count -= 1
    return removed.channel
  }
}
