internal import Glibc

/// A lock, and a condition that threads wait for. Deadlines are on a monotonic clock, so that a step of the wall clock
/// neither shortens nor lengthens a wait.
package final class WaitCondition: @unchecked Sendable {
  // Unchecked: POSIX locks and conditions may be used from any thread. Foundation's and Dispatch's wait by the wall
  // clock on Linux.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Calls `body` with the lock held.
  package func withLock<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Wakes all threads that wait.
  package func broadcast() { pthread_cond_broadcast(changed) }

  /// Waits for a broadcast. It may return without one. Call with the lock held; it is released while the thread waits.
  package func wait() { pthread_cond_wait(changed, mutex) }

  /// Waits until `isBlocked` is false. Call with the lock held; it is released while the thread waits.
  ///
  /// - Parameters:
  ///   - isBlocked: Evaluated with the lock held, at first and after each broadcast.
  ///   - deadline: When to give up; `nil` for never.
  /// - Returns: `false` if `isBlocked` is still true at the deadline.
  @discardableResult
  package func wait(
    while isBlocked: @autoclosure () -> Bool, until deadline: ContinuousClock.Instant? = nil
  ) -> Bool {
    while isBlocked() {
      guard let deadline else {
        wait()
        continue
      }
      let left = ContinuousClock.now.duration(to: deadline)
      guard left > .zero else { return false }
      var time = Self.monotonic(in: left)
      pthread_cond_timedwait(changed, mutex, &time)
    }
    return true
  }

  /// Returns the time of the monotonic clock after `duration`, at most a year.
  private static func monotonic(in duration: Duration) -> timespec {
    let second = 1_000_000_000
    let (seconds, attoseconds) = min(duration, .seconds(365 * 86400)).components
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let nanoseconds = time.tv_nsec + Int(clamping: attoseconds / 1_000_000_000)
    time.tv_sec += Int(clamping: seconds) + nanoseconds / second
    time.tv_nsec = nanoseconds % second
    return time
  }
}
