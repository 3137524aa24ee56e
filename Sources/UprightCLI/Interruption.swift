internal import Dispatch
internal import Foundation
internal import Synchronization

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
  // Kept for the life of the process. Only `watch` accesses it.
  private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

  /// The exit status after a signal: 130, 143 or 129. `nil` if no signal was received.
  var status: Int32? { state.withLock { $0.number.map { 128 + $0 } } }

  /// Starts to handle signals: calls `first` for the first one, and `second` for each further one.
  func watch(first: @escaping @Sendable () -> Void, second: @escaping @Sendable () -> Void) {
    state.withLock {
      $0.onFirst = first
      $0.onSecond = second
    }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_IGN)
      // nohup ignores SIGHUP, so that the terminal may be closed.
      if number == SIGHUP, unsafe unsafeBitCast(before, to: Int.self) == 1 { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [self] in arrived(number) }
      source.resume()
      unsafe sources.append(source)
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
