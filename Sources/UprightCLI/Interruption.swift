internal import Glibc
internal import Synchronization
internal import UprightMedia

/// Handles SIGINT (Ctrl-C), SIGTERM and SIGHUP. The first signal stops reading and lets the output be
/// finished, the second ends the process immediately.
final class Interruption: Sendable {
  static let shared = Interruption()

  private struct State {
    var number: Int32?
    var onFirst: (@Sendable () -> Void)?
    var onSecond: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// The exit status after a signal: 130, 143 or 129. `nil` if no signal was received.
  var status: Int32? { state.withLock { $0.number.map { 128 + $0 } } }

  /// Starts to handle signals: calls `first` for the first one, and `second` for each further one. Call this
  /// before the process has other threads.
  func watch(first: @escaping @Sendable () -> Void, second: @escaping @Sendable () -> Void) {
    state.withLock {
      $0.onFirst = first
      $0.onSecond = second
    }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_DFL)
      // nohup ignores SIGHUP, so that the terminal may be closed.
      if number == SIGHUP, unsafe unsafeBitCast(before, to: Int.self) == 1 {
        signal(number, SIG_IGN)
      } else {
        unsafe sigaddset(&signals, number)
      }
    }
    // Threads that start from here on inherit the mask. A blocked signal waits until `sigwait` takes it.
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    _ = WorkThread<Void>(name: "upright-signals") { [self, signals] in
      var (signals, number) = (signals, Int32(0))
      while unsafe sigwait(&signals, &number) == 0 { arrived(number) }
    }
  }

  private func arrived(_ number: Int32) {
    let action: (@Sendable () -> Void)? = state.withLock { state in
      let isFirst = state.number == nil
      if isFirst { state.number = number }
      return isFirst ? state.onFirst : state.onSecond
    }
    action?()
  }
}
