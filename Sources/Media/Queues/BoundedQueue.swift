internal import UprightMediaIO

/// Passes items from one thread to another and holds at most `capacity` of them, so that memory use stays
/// constant whichever thread is faster. With a capacity of 0 an item is accepted only while a consumer waits,
/// so the two threads alternate.
package final class BoundedQueue<Element: ~Copyable>: @unchecked Sendable {
  // Unchecked: everything below is accessed only while `condition` is locked. The ring holds boxes because
  // the collections of the standard library take no noncopyable elements. It is allocated once, so that no
  // item causes an allocation.
  private let condition = WaitCondition()
  private let ring: [Box]
  private var head = 0
  private var count = 0
  private let capacity: Int
  /// The number of threads that wait in `take`.
  private var takers = 0
  private var isClosed = false
  /// Whether `wake` was called since the last `take(by:)`.
  private var isWoken = false

  private final class Box {
    var element: Element?
  }

  package init(capacity: Int) {
    self.capacity = capacity
    ring = (0..<max(1, capacity)).map { _ in Box() }
  }

  /// Whether the queue accepts no further item. Call with `condition` locked.
  private var isFull: Bool { capacity == 0 ? count == 1 || takers == 0 : count == capacity }

  /// Waits for space and enqueues `element`. Returns `false`, and discards the element, if the queue is
  /// closed.
  package func put(_ element: consuming sending Element) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    condition.wait(while: isFull && !isClosed)
    if isClosed { return false }
    ring[(head + count) % ring.count].element = consume element
    count += 1
    condition.broadcast()
    return true
  }

  /// Waits until `put` would not block. With a single producer, that holds until its next `put`.
  package func waitForRoom() {
    condition.lock()
    defer { condition.unlock() }
    condition.wait(while: isFull && !isClosed)
  }

  /// Waits for an item and returns it; `nil` if the queue is closed and empty.
  package func take() -> sending Element? {
    condition.lock()
    defer { condition.unlock() }
    beginToWait()
    condition.wait(while: count == 0 && !isClosed)
    takers -= 1
    return first()
  }

  /// Registers a waiting consumer. Call with `condition` locked.
  private func beginToWait() {
    takers += 1
    if capacity == 0 { condition.broadcast() }
  }

  /// Removes and returns the first item; `nil` if there is none. Call with `condition` locked.
  private func first() -> sending Element? {
    guard count > 0 else { return nil }
    let box = ring[head]
    head = (head + 1) % ring.count
    count -= 1
    condition.broadcast()
    return box.element.take()
  }

  /// The number of queued items.
  package var depth: Int { condition.withLock { count } }

  /// Whether the queue is closed and empty.
  package var hasEnded: Bool { condition.withLock { isClosed && count == 0 } }

  /// Waits for an item. Returns `nil` at the deadline, after `wake`, and if the queue is closed and empty.
  package func take(by deadline: ContinuousClock.Instant) -> sending Element? {
    condition.lock()
    defer { condition.unlock() }
    beginToWait()
    condition.wait(while: count == 0 && !isClosed && !isWoken, until: deadline)
    isWoken = false
    takers -= 1
    return first()
  }

  /// Ends the wait of `take(by:)`, or the next one.
  package func wake() {
    condition.withLock {
      isWoken = true
      condition.broadcast()
    }
  }

  /// Closes the queue. Waiting producers return, and consumers receive the remaining items and then `nil`.
  package func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }
}
