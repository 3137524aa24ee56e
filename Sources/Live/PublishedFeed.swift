internal import Foundation
internal import Synchronization
internal import UprightMediaIO

/// The FLV stream of a publisher, passed on by the code that accepted it, one connection after another. Safe
/// to use from any thread.
///
/// The feed is bounded. It rejects data that does not fit, so that the acceptor stops reading from its peer.
public final class PublishedFeed: Sendable {
  private struct State: Sendable {
    /// The pipe of the current connection; `nil` if there is no publisher.
    var pipe: BytePipe?
    /// The pipe of a connection that the session has not opened yet.
    var waiting: BytePipe?
    var onRoom: @Sendable () -> Void = {}
    var isClosed = false
    /// The number of bytes of earlier connections.
    var earlierBytes = 0
    /// Why the last connection was refused, until the session has reported it.
    var refusal: String?
  }

  private let state = Mutex(State())
  private let arrival = DispatchSemaphore(value: 0)
  private let capacity: Int

  /// Creates a feed that holds `capacity` bytes and one more tag.
  public init(capacity: Int = 4 << 20) { self.capacity = capacity }

  /// The FLV header (Video File Format Specification 10.1, E.2), with the flags for audio and video.
  private static let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]

  /// Starts a connection; tags follow. Returns `false` if there is already a publisher, or the session has
  /// ended.
  public func begin() -> Bool {
    let pipe = BytePipe(capacity: capacity) { [weak self] in self?.notifyRoom() }
    let isTaken = state.withLock { state in
      if state.isClosed || state.pipe != nil { return false }
      state.pipe = pipe
      // An earlier connection that ended before the session opened it is discarded.
      state.waiting = pipe
      return true
    }
    guard isTaken else { return false }
    _ = pipe.write(Self.header)
    arrival.signal()
    return true
  }

  /// Writes complete tags, as in a file, each followed by its size. Returns `false` if they were not
  /// accepted: there is no room (`onRoom` reports when there is), or no publisher.
  public func write(_ tags: [UInt8]) -> Bool {
    state.withLock { $0.pipe }?.write(tags) ?? false
  }

  /// Records why the publisher's stream is refused. The session reports the reason. Call `end` next.
  public func refuse(because reason: String) { state.withLock { $0.refusal = reason } }

  /// Returns why the last connection was refused, and clears it.
  func takeRefusal() -> String? { state.withLock { $0.refusal.take() } }

  /// Ends the connection. Another one may start.
  public func end() {
    let pipe = state.withLock { state in
      state.earlierBytes += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
  }

  /// Stops reading a connection whose stream can't be used. The acceptor must disconnect its publisher, which
  /// may connect again.
  func refuse(_ pipe: BytePipe) {
    let isPresent = state.withLock { state in
      guard state.pipe === pipe else { return false }
      state.earlierBytes += pipe.written
      state.pipe = nil
      return true
    }
    guard isPresent else { return }
    pipe.end()
    notifyRoom()
  }

  /// Whether there is a publisher.
  public var isPublishing: Bool { state.withLock { $0.pipe != nil } }

  /// Whether the session has ended and accepts no more publishers.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Sets the closure that is called when there is room again after a rejected write. It runs on a thread of
  /// the session.
  public func onRoom(_ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.onRoom = body }
  }

  private func notifyRoom() { state.withLock { $0.onRoom }() }

  /// The number of bytes that were accepted, for all connections together.
  var written: Int {
    state.withLock { $0.earlierBytes + ($0.pipe?.written ?? 0) }
  }

  /// Waits for the next connection. Returns `nil` if there was none within `seconds`.
  func next(within seconds: Double) -> BytePipe? {
    _ = arrival.wait(timeout: .now() + seconds)
    return state.withLock { $0.waiting.take() }
  }

  /// Closes the feed at the end of the session. It accepts nothing more.
  func close() {
    let pipe = state.withLock { state in
      state.isClosed = true
      state.earlierBytes += state.pipe?.written ?? 0
      return state.pipe.take()
    }
    pipe?.end()
    notifyRoom()
  }
}
