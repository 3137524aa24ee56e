internal import Glibc
internal import Synchronization

/// Opens once, and lets all threads through that wait for it. They wait by the monotonic clock.
final class Gate: Sendable {
  /// A socket, which is readable once the other end is closed.
  private let reading: CInt
  private let writing: Mutex<CInt>

  init() {
    var ends: [CInt] = [-1, -1]
    _ = unsafe socketpair(
      AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
    reading = ends[0]
    writing = Mutex(ends[1])
  }

  deinit {
    open()
    close(reading)
  }

  func open() {
    writing.withLock { writing in
      close(writing)
      writing = -1
    }
  }

  /// Waits until the gate is open. Returns `false` if it isn't after `seconds`.
  func wait(_ seconds: Double) -> Bool {
    var request = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    let deadline = ContinuousClock.now + .seconds(min(max(seconds, 0), 1e6))
    while true {
      let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
      let count = unsafe poll(&request, 1, CInt(clamping: left.rounded(.up)))
      if count > 0 { return true }
      if ContinuousClock.now >= deadline { return false }
    }
  }
}
