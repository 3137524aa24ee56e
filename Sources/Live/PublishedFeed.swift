internal import Foundation
internal import Synchronization
internal import UprightMediaIO

/// FLV of a publisher, handed over by whoever accepted it, one connection after another. Any thread.
///
/// Bounded: what there is no room for is refused, so that the acceptor stops reading from its peer.
public final class PublishedFeed: Sendable {
  private struct State: Sendable {
    /// Of the present connection; nil while nobody publishes.
    var pipe: BytePipe?
    /// Begun, and not yet opened by the session.
    var waiting: BytePipe?
    var onRoom: @Sendable () -> Void = {}
    var isClosed = false
    /// Bytes of the connections before this one.
    var former = 0
    /// Why the last connection was refused, until the session has said so.
    var refusal: String?
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let capacity: Int

  /// A feed that holds `capacity` bytes, and one tag more.
  public init(capacity: Int = 4 << 20) { self.capacity = capacity }

  /// FLV's header (Video File Format Specification 10.1, E.2): sound and pictures may follow.
  private static let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]

  /// A publisher begins; tags follow. False where there is one already, or the session is over.
  public func begin() -> Bool {
    let pipe = BytePipe(capacity: capacity) { [weak self] in self?.tellRoom() }
    let isTaken = state.withLock { state in
      if state.isClosed || state.pipe != nil { return false }
      state.pipe = pipe
      // One that has gone without having been looked at is not looked at any more.
      state.waiting = pipe
      return true
    }
    guard isTaken else { return false }
    _ = pipe.write(Self.header)
    arrival.signal()
    return true
  }

  /// Hands over whole tags as they stand in a file, each with its size behind it. False where they were
  /// not taken: there is no room (`onRoom` tells when there is), or no publisher.
  public func write(_ tags: [UInt8]) -> Bool {
    state.withLock { $0.pipe }?.write(tags) ?? false
  }

  /// The publisher's stream is of no use, for a reason that the session shows; `end` follows.
  public func refuse(because reason: String) { state.withLock { $0.refusal = reason } }

  /// Why the last connection was refused; once.
  func takeRefusal() -> String? { state.withLock { $0.refusal.take() } }

  /// The publisher is gone; another may begin.
  public func end() {
    let pipe = state.withLock { state in
      state.former += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
  }

  /// Nothing more of that connection is read, whose stream is of no use: its publisher is to be sent away,
  /// and may come again.
  func refuse(_ pipe: BytePipe) {
    let isPresent = state.withLock { state in
      guard state.pipe === pipe else { return false }
      state.former += pipe.written
      state.pipe = nil
      return true
    }
    guard isPresent else { return }
    pipe.end()
    tellRoom()
  }

  /// Whether somebody publishes.
  public var isPublishing: Bool { state.withLock { $0.pipe != nil } }

  /// Whether the session is over and nobody is accepted any more.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// What to call when there is room again after a refusal, on some thread of the session's.
  public func onRoom(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onRoom = body }
  }

  private func tellRoom() { state.withLock { $0.onRoom }() }

  /// Bytes that were taken, all connections together.
  var written: Int {
    state.withLock { $0.former + ($0.pipe?.written ?? 0) }
  }

  /// Waits for the next connection; nil where none came in that many seconds.
  func next(within seconds: Double) -> BytePipe? {
    _ = arrival.wait(timeout: .now() + seconds)
    return state.withLock { $0.waiting.take() }
  }

  /// The session is over: nothing is taken any more.
  func close() {
    let pipe = state.withLock { state in
      state.isClosed = true
      state.former += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
    tellRoom()
  }
}
