internal import CUprightFFmpeg
package import Glibc

/// Ends blocking reads, writes and waits from another thread. Once raised, it stays raised.
package final class Interrupt: @unchecked Sendable {
  // Unchecked: what follows the latch is accessed only while `waiting` is locked.
  private let latch = Latch()
  private let waiting = WaitCondition()
  private var conditions: [WaitCondition] = []
  /// Two sockets, of which the first is readable once the interrupt is raised; made when a thread first polls.
  private var pair: (reading: CInt, writing: CInt)?

  package init() {}

  deinit {
    guard let pair else { return }
    close(pair.reading)
    close(pair.writing)
  }

  /// Takes locks: a signal handler must leave it to a thread.
  package func raise() {
    let conditions = waiting.withLock {
      latch.open()
      if let pair { notify(pair.writing) }
      // With storage of its own: the thread sanitizer doesn't see that shared storage is copied before it is changed.
      return self.conditions.map { $0 }
    }
    for condition in conditions { condition.withLock { condition.broadcast() } }
  }

  package var isRaised: Bool { latch.isOpen }

  /// Waits until `deadline`, or until the interrupt is raised.
  package func wait(until deadline: ContinuousClock.Instant) { latch.wait(until: deadline) }

  /// Calls `body`. Until it returns, the interrupt wakes the threads that wait for `condition`, which must not be
  /// locked now.
  package func waking<R>(_ condition: WaitCondition, _ body: () -> R) -> R {
    waiting.withLock { conditions.append(condition) }
    defer {
      waiting.withLock {
        if let index = conditions.firstIndex(where: { $0 === condition }) {
          conditions.remove(at: index)
        }
      }
    }
    return body()
  }

  /// Waits until one of `requests` is ready, as `poll` does, or the interrupt is raised.
  ///
  /// - Parameter deadline: When to give up; `nil` for never.
  /// - Returns: Whether a request is ready.
  package func poll(
    _ requests: inout [pollfd], until deadline: ContinuousClock.Instant? = nil
  ) -> Bool {
    requests.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    defer { requests.removeLast() }
    while true {
      // Without descriptors left for the sockets, the interrupt is looked at ten times a second.
      let limit: CInt = (requests.last?.fd ?? -1) < 0 ? 100 : .max
      let left = deadline.map { ContinuousClock.now.duration(to: $0) }
      let count = Glibc.poll(&requests, nfds_t(requests.count), min(limit, Self.timeout(left)))
      if isRaised { return false }
      if count > 0 { return requests.dropLast().contains { $0.revents != 0 } }
      if let left, left <= .zero { return false }
    }
  }

  /// A descriptor that becomes readable when the interrupt is raised; -1 if the process has no other left.
  package var descriptor: CInt {
    waiting.withLock {
      if let pair { return pair.reading }
      var ends: [CInt] = [-1, -1]
      let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
      guard socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else { return -1 }
      pair = (ends[0], ends[1])
      if isRaised { notify(ends[1]) }
      return ends[0]
    }
  }

  private func notify(_ descriptor: CInt) {
    var byte: UInt8 = 1
    _ = write(descriptor, &byte, 1)
  }

  /// Returns the timeout of `poll` in milliseconds, rounded up.
  private static func timeout(_ left: Duration?) -> CInt {
    guard let (seconds, attoseconds) = left?.components else { return .max }
    guard seconds < 1_000_000 else { return .max }
    return CInt(
      max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }

  /// The callback that libavformat polls during blocking calls. It holds no reference: the owner of the
  /// context must keep this object alive.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}
