internal import Synchronization

/// The rate limit for a session's events, a token bucket. By default 1000 events per second, with bursts of
/// up to 2000.
final class EventBudget: Sendable {
  private struct State {
    var left: Double
    var at: ContinuousClock.Instant
  }

  private let state: Mutex<State>
  private let perSecond: Double
  private let burst: Double

  init(perSecond: Double = 1000, burst: Double = 2000, now: ContinuousClock.Instant = .now) {
    self.perSecond = perSecond
    self.burst = burst
    state = Mutex(State(left: burst, at: now))
  }

  /// Spends `count` events. Returns `false` and spends nothing if fewer are left.
  func take(_ count: Int, now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in
      state.left = min(burst, state.left + (now - state.at) / .seconds(1) * perSecond)
      state.at = now
      guard state.left >= Double(count) else { return false }
      state.left -= Double(count)
      return true
    }
  }
}
