internal import RotationPolicy
internal import Synchronization

/// What a session tells, numbered; the last of it is kept for those who come back.
///
/// Readers keep a number, not a queue: a reader that is slow costs nothing, and one that falls
/// behind what is kept is told so and sent away.
final class SessionEventLog: Sendable {
  struct Event: Sendable, Hashable {
    let number: Int
    let kind: String
    /// JSON on one line.
    let data: String
  }

  /// What a reader finds behind its number.
  enum Reading: Sendable, Hashable {
    case events([Event])
    /// What it has not read is not kept any more.
    case lost
    /// All was read and no more will come.
    case ended
  }

  private struct State {
    var events: [Event] = []
    /// Of the data of `events`.
    var bytes = 0
    var next = 1
    var isEnded = false
    var readers: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextReader = 0
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let mostBytes: Int
  private let mostReaders: Int

  /// - Parameters:
  ///   - capacity: events kept.
  ///   - mostBytes: bytes of their data that are kept; the last event is, however long.
  ///   - mostReaders: readers at a time.
  init(capacity: Int = 1024, mostBytes: Int = 1 << 20, mostReaders: Int = 64) {
    self.capacity = capacity
    self.mostBytes = mostBytes
    self.mostReaders = mostReaders
  }

  /// Adds an event; behind the end nothing is added any more.
  func append(_ kind: String, _ value: JSONValue) {
    let data = value.compact
    state.withLock { state in
      guard !state.isEnded else { return }
      state.events.append(Event(number: state.next, kind: kind, data: data))
      state.bytes += data.utf8.count
      state.next += 1
      // Dropped by halves, so that an append costs O(1).
      if state.events.count >= 2 * capacity || state.bytes > mostBytes { trim(&state) }
      for reader in state.readers.values { reader.yield() }
    }
  }

  private func trim(_ state: inout State) {
    var surplus = max(0, state.events.count - capacity)
    var bytes = state.events.dropFirst(surplus).reduce(0) { $0 + $1.data.utf8.count }
    if bytes > mostBytes {
      while bytes > mostBytes / 2, surplus < state.events.count - 1 {
        bytes -= state.events[surplus].data.utf8.count
        surplus += 1
      }
    }
    state.events.removeFirst(surplus)
    state.bytes = bytes
  }

  /// No more will come; readers are woken for the last time.
  func end() {
    state.withLock { state in
      state.isEnded = true
      for reader in state.readers.values { reader.yield() }
    }
  }

  /// Whether no more will come.
  var hasEnded: Bool { state.withLock { $0.isEnded } }

  /// The number of the last event.
  var last: Int { state.withLock { $0.next - 1 } }

  /// The number before the oldest event that is kept.
  var oldest: Int { state.withLock { max($0.next - 1 - min($0.events.count, capacity), 0) } }

  /// At most `limit` events behind number `after`.
  func read(after: Int, limit: Int = 64) -> Reading {
    state.withLock { state in
      let unread = state.next - 1 - after
      guard unread > 0 else { return state.isEnded ? .ended : .events([]) }
      guard unread <= min(state.events.count, capacity) else { return .lost }
      return .events(Array(state.events.suffix(unread).prefix(limit)))
    }
  }

  /// What wakes a reader.
  struct Subscription: Sendable {
    /// An element whenever there may be something to read.
    let wakes: AsyncStream<Void>
    fileprivate let continuation: AsyncStream<Void>.Continuation

    /// Wakes the reader though there is nothing new.
    func wake() { continuation.yield() }
  }

  /// A new reader; nil where there are as many as there may be.
  func subscribe() -> Subscription? {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      guard state.readers.count < mostReaders else { return nil }
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

  /// How many read.
  var readers: Int { state.withLock { $0.readers.count } }
}
