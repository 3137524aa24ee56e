internal import Dispatch
internal import Foundation
internal import Synchronization

/// Ctrl-C, SIGTERM and SIGHUP: the first one stops reading and lets the work be finished, the second ends the
/// process at once.
final class Interruption: Sendable {
  static let shared = Interruption()

  private struct State {
    var number: Int32?
    var onFirst: (@Sendable () -> Void)?
    var onSecond: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  // Two sources, kept for the life of the process; made before any signal can be handled.
  private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

  /// 130, 143 or 129 once a signal has come.
  var status: Int32? { state.withLock { $0.number.map { 128 + $0 } } }

  /// From now on calls `first` at the first signal, and `second` before the end at the next one.
  func watch(first: @escaping @Sendable () -> Void, second: @escaping @Sendable () -> Void) {
    state.withLock {
      $0.onFirst = first
      $0.onSecond = second
    }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_IGN)
      // Under nohup the terminal may go.
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
