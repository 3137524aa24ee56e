internal import UprightPolicy
internal import Synchronization

/// The numbered events of a session. Keeps the latest events for clients that reconnect.
///
/// A reader is a number, not a queue, so a slow reader costs no memory. A reader that has fallen behind the
/// oldest kept event gets `lost`.
final class SessionEventLog: Sendable {
  struct Event: Sendable, Hashable {
    let number: Int
    let kind: String
    /// The event's JSON, on one line.
    let data: String
  }

  /// The result of `read`.
  enum Reading: Sendable, Hashable {
    case events([Event])
    /// Unread events have been dropped.
    case lost
    /// All events have been read, and the session has ended.
    case ended
  }

  private struct State {
    var events: [Event] = []
    /// The total size of the data in `events`, in bytes.
    var bytes = 0
    var next = 1
    var isEnded = false
    var readers: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextReader = 0
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let maxBytes: Int
  private let maxReaders: Int

  /// - Parameters:
  ///   - capacity: The number of events to keep.
  ///   - maxBytes: The maximum size of their data, in bytes. The last event is kept at any size.
  ///   - maxReaders: The maximum number of simultaneous readers.
  init(capacity: Int = 1024, maxBytes: Int = 1 << 20, maxReaders: Int = 64) {
    self.capacity = capacity
    self.maxBytes = maxBytes
    self.maxReaders = maxReaders
  }

  /// Adds an event. Does nothing after `end`.
  func append(_ kind: String, _ value: JSONValue) {
    let data = value.compact
    state.withLock { state in
      guard !state.isEnded else { return }
      state.events.append(Event(number: state.next, kind: kind, data: data))
      state.bytes += data.utf8.count
      state.next += 1
      // Half of the events are dropped at once, so that an append is O(1) on average.
      if state.events.count >= 2 * capacity || state.bytes > maxBytes { trim(&state) }
      for reader in state.readers.values { reader.yield() }
    }
  }

  private func trim(_ state: inout State) {
    var surplus = max(0, state.events.count - capacity)
    var bytes = state.events.dropFirst(surplus).reduce(0) { $0 + $1.data.utf8.count }
    if bytes > maxBytes {
      while bytes > maxBytes / 2, surplus < state.events.count - 1 {
        bytes -= state.events[surplus].data.utf8.count
        surplus += 1
      }
    }
    state.events.removeFirst(surplus)
    state.bytes = bytes
  }

  /// Ends the feed and wakes the readers for the last time.
  func end() {
    state.withLock { state in
      state.isEnded = true
      for reader in state.readers.values { reader.yield() }
    }
  }

  /// Whether `end` was called.
  var hasEnded: Bool { state.withLock { $0.isEnded } }

  /// The number of the last event.
  var last: Int { state.withLock { $0.next - 1 } }

  /// The number before that of the oldest kept event.
  var oldest: Int { state.withLock { max($0.next - 1 - min($0.events.count, capacity), 0) } }

  /// Returns at most `limit` events with numbers greater than `after`.
  func read(after: Int, limit: Int = 64) -> Reading {
    state.withLock { state in
      let unread = state.next - 1 - after
      guard unread > 0 else { return state.isEnded ? .ended : .events([]) }
      // More than `capacity` may still be there: a reader that begins at the oldest loses nothing to the next event.
      guard unread <= state.events.count else { return .lost }
      return .events(Array(state.events.suffix(unread).prefix(limit)))
    }
  }

  /// A reader's wake-ups.
  struct Subscription: Sendable {
    /// Yields an element whenever there may be something to read.
    let wakes: AsyncStream<Void>
    fileprivate let continuation: AsyncStream<Void>.Continuation

    /// Wakes the reader even if there is nothing new.
    func wake() { continuation.yield() }
  }

  /// Adds a reader. Returns `nil` if there are `maxReaders` already.
  func subscribe() -> Subscription? {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      guard state.readers.count < maxReaders else { return nil }
      state.nextReader += 1
      state.readers[state.nextReader] = continuation
      return state.nextReader
    }
    guard let number else { return nil }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.readers.removeValue(forKey: number) }
    }
    continuation.yield()
    return Subscription(wakes: stream, continuation: continuation)
  }

  /// The number of readers.
  var readers: Int { state.withLock { $0.readers.count } }
}
