internal import Synchronization

/// Opens once, and lets all threads through that wait for it.
package final class Latch: Sendable {
  private let flag = Atomic(false)
  private let opened = WaitCondition()

  package init() {}

  package var isOpen: Bool { flag.load(ordering: .acquiring) }

  package func open() {
    opened.withLock {
      flag.store(true, ordering: .releasing)
      opened.broadcast()
    }
  }

  /// Waits until the latch is open. Returns `false` if it isn't by `deadline`, if there is one.
  @discardableResult
  package func wait(until deadline: ContinuousClock.Instant? = nil) -> Bool {
    if isOpen { return true }
    return opened.withLock { opened.wait(while: !isOpen, until: deadline) }
  }
}
