internal import DequeModule
internal import UprightMediaIO
package import UprightOrientation

/// Passes values between tasks and threads and holds at most `capacity` of them. A task that waits is
/// suspended, a thread that waits is blocked.
///
/// Any number of senders, one receiver.
package final class TaskQueue<Element: Sendable>: @unchecked Sendable {
  private struct Sender {
    let number: Int
    let element: Element
    let continuation: CheckedContinuation<Bool, Never>
  }

  // Unchecked: everything below is accessed only while `condition` is locked.
  private let condition = WaitCondition()
  private let capacity: Int
  private var elements = Deque<Element>()
  private var isClosed = false
  /// The tasks that wait for space, in their order.
  private var senders = Deque<Sender>()
  private var sendCount = 0
  private var isReceiving = false
  /// The task that waits for an element.
  private var receiver: CheckedContinuation<Void, Never>?
  private var watcher: (side: Side, call: @Sendable () -> Void)?
  /// Whether `watcher` has to be called.
  private var hasNews = false

  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// What a watcher waits for.
  package enum Side: Sendable {
    /// Space for an element.
    case space
    /// An element.
    case element
  }

  /// Calls `body` now, each time there is space or an element, and when the queue is closed; on any thread. For one
  /// watcher.
  package func watch(for side: Side, _ body: @escaping @Sendable () -> Void) {
    condition.withLock { watcher = (side, body) }
    body()
  }

  /// Calls `body` with `condition` locked, and then the watcher if it waits for what `body` did.
  private func locked<Value>(_ body: () -> Value) -> Value {
    let (value, call) = condition.withLock {
      let value = body()
      defer { hasNews = false }
      return (value, hasNews ? watcher?.call : nil)
    }
    call?()
    return value
  }

  // MARK: - Sending

  /// Enqueues `element` if there is space. Returns `false` if the queue is full or closed.
  package func offer(_ element: Element) -> Bool {
    locked {
      guard !isClosed, elements.count < capacity, senders.isEmpty else { return false }
      append(element)
      return true
    }
  }

  /// Suspends until there is space, and enqueues `element`. Returns `false` if the queue is closed or the task
  /// is cancelled.
  package func send(_ element: Element) async -> Bool {
    let number = locked {
      sendCount += 1
      return sendCount
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSent: Bool? = locked {
          if isClosed || Task.isCancelled { return false }
          if elements.count < capacity, senders.isEmpty {
            append(element)
            return true
          }
          senders.append(Sender(number: number, element: element, continuation: continuation))
          return nil
        }
        if let isSent { continuation.resume(returning: isSent) }
      }
    } onCancel: {
      let sender: Sender? = locked {
        senders.firstIndex { $0.number == number }.map { senders.remove(at: $0) }
      }
      sender?.continuation.resume(returning: false)
    }
  }

  /// Blocks until there is space, and enqueues `element`. Returns `false` if the queue is closed, and `nil` if
  /// there is no space by `deadline`, if there is one.
  package func put(_ element: Element, by deadline: ContinuousClock.Instant?) -> Bool? {
    locked {
      let isLate = !condition.wait(
        while: !isClosed && (elements.count >= capacity || !senders.isEmpty), until: deadline)
      if isLate { return nil }
      if isClosed { return false }
      append(element)
      return true
    }
  }

  /// Blocks until there is space, and enqueues `element`. Returns `false` if the queue is closed.
  package func put(_ element: Element) -> Bool { put(element, by: nil) ?? false }

  /// Call with `condition` locked.
  private func append(_ element: Element) {
    if watcher?.side == .element { hasNews = true }
    elements.append(element)
    condition.broadcast()
    receiver.take()?.resume()
  }

  // MARK: - Receiving

  /// Blocks until there is an element and returns it; `nil` if the queue is closed and empty.
  package func take() -> Element? { take(by: nil).element }

  /// Blocks until there is an element and returns it; `nil` if the queue is closed and empty, or if there is
  /// none by `deadline`. `isLate` is whether the deadline has passed.
  package func take(by deadline: ContinuousClock.Instant?) -> (element: Element?, isLate: Bool) {
    locked {
      let isLate = !condition.wait(while: elements.isEmpty && !isClosed, until: deadline)
      return (first(), isLate)
    }
  }

  /// Suspends until there is an element and returns it; `nil` if the queue is closed and empty, or if the task
  /// is cancelled.
  ///
  /// - Throws: `misuse` if another task is waiting for an element.
  package func next() async throws(UprightError) -> Element? {
    let isFirst = locked {
      defer { isReceiving = true }
      return !isReceiving
    }
    guard isFirst else { throw Self.taken }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = locked {
          if !elements.isEmpty || isClosed || Task.isCancelled { return true }
          receiver = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      locked { receiver.take()?.resume() }
    }
    return locked {
      isReceiving = false
      return first()
    }
  }

  private static var taken: UprightError {
    UprightError(
      .misuse, "another task is receiving", at: "next", remedy: "receive in one task")
  }

  /// Removes and returns the first element, and lets the next sender in. Call with `condition` locked.
  private func first() -> Element? {
    guard let element = elements.popFirst() else { return nil }
    if watcher?.side == .space { hasNews = true }
    if let sender = senders.popFirst() {
      append(sender.element)
      sender.continuation.resume(returning: true)
    }
    condition.broadcast()
    return element
  }

  // MARK: - The end

  /// Closes the queue. Waiting senders return `false`; the receiver gets the remaining elements and then `nil`.
  ///
  /// - Parameter discards: Whether the remaining elements are discarded.
  package func close(discarding discards: Bool = false) {
    let refused = locked {
      isClosed = true
      hasNews = true
      if discards { elements.removeAll() }
      condition.broadcast()
      receiver.take()?.resume()
      defer { senders.removeAll() }
      return senders
    }
    for sender in refused { sender.continuation.resume(returning: false) }
  }
}
