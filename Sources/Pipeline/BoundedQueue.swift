internal import Foundation

/// Hands items from one thread to another, at most `capacity` at a time, so that memory stays flat
/// whichever of the two is the faster. With a capacity of 0 an item is handed to who waits for it: the two
/// threads take turns.
package final class BoundedQueue<Element: ~Copyable>: @unchecked Sendable {
  // Unchecked: everything below is only touched under `condition`. A ring of boxes, since Foundation
  // and the collections of the standard library take no noncopyable elements; made once, so that
  // nothing is allocated for an item.
  private let condition = NSCondition()
  private let ring: [Box]
  private var head = 0
  private var count = 0
  private let capacity: Int
  /// Threads that wait in `take`.
  private var takers = 0
  private var isClosed = false

  private final class Box {
    var element: Element?
  }

  package init(capacity: Int) {
    self.capacity = capacity
    ring = (0..<max(1, capacity)).map { _ in Box() }
  }

  /// Whether nothing more may be put in. Under `condition`.
  private var isFull: Bool { capacity == 0 ? count == 1 || takers == 0 : count == capacity }

  /// Waits for room and hands over `element`; false (and the element is gone) once closed.
  package func put(_ element: consuming sending Element) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while isFull && !isClosed { condition.wait() }
    if isClosed { return false }
    ring[(head + count) % ring.count].element = consume element
    count += 1
    condition.broadcast()
    return true
  }

  /// Waits until `put` would not wait: true of the only thread that puts, until it does.
  package func waitForRoom() {
    condition.lock()
    defer { condition.unlock() }
    while isFull && !isClosed { condition.wait() }
  }

  /// Waits for an item; nil once closed and empty.
  package func take() -> sending Element? {
    condition.lock()
    defer { condition.unlock() }
    beginToWait()
    while count == 0 && !isClosed { condition.wait() }
    takers -= 1
    return first()
  }

  /// Says that somebody waits for an item. Under `condition`.
  private func beginToWait() {
    takers += 1
    if capacity == 0 { condition.broadcast() }
  }

  /// Takes out the first item; nil where none is left. Under `condition`.
  private func first() -> sending Element? {
    guard count > 0 else { return nil }
    let box = ring[head]
    head = (head + 1) % ring.count
    count -= 1
    condition.broadcast()
    return box.element.take()
  }

  /// Items that wait.
  package var depth: Int {
    condition.lock()
    defer { condition.unlock() }
    return count
  }

  /// Whether nothing is left and nothing will come.
  package var isOver: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed && count == 0
  }

  /// Waits for an item, but no longer than that many seconds; nil where none came, or once closed and
  /// empty.
  package func take(within seconds: Double) -> sending Element? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    beginToWait()
    while count == 0 && !isClosed { if !condition.wait(until: deadline) { break } }
    takers -= 1
    return first()
  }

  /// Ends both sides: waiting producers are let go, consumers get what is left and then nil.
  package func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }
}
