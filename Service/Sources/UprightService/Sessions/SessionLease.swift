internal import Synchronization

/// The time for which the sessions with an epoch may run without a sign of life from the program that created them.
///
/// An agent that has lost its cluster, or has died or been suspended, doesn't renew it. Then the sessions end before
/// another machine runs them. The clock is this machine's monotonic one.
final class SessionLease: Sendable {
  private struct State {
    /// `nil` until the first renewal: sessions then run without a limit.
    var end: ContinuousClock.Instant?
    /// Waits for the end.
    var watch: Task<Void, Never>?
  }

  private let state = Mutex(State())

  /// Lets the sessions run for `seconds` from now.
  ///
  /// - Parameter lapse: Called when that is over, unless it is renewed before.
  func renew(_ seconds: Double, lapse: @escaping @Sendable () async -> Void) {
    let end = ContinuousClock.now + .seconds(seconds)
    let watch = Task.detached { [weak self] in
      try? await Task.sleep(until: end, clock: .continuous)
      // A renewal that came while this task woke up has another end.
      guard !Task.isCancelled, self?.state.withLock({ $0.end == end }) == true else { return }
      await lapse()
    }
    state.withLock { state in
      state.watch?.cancel()
      (state.end, state.watch) = (end, watch)
    }
  }

  /// Whether it was renewed and isn't valid any more.
  var hasLapsed: Bool { state.withLock { $0.end.map { $0 <= .now } ?? false } }
}
