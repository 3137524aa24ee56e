extension ContinuousClock.Instant {
  /// The instant in some seconds, which may be any number: at most in 30 years, and now for none and less.
  package static func after(seconds: Double) -> Self {
    .now + .seconds(seconds > 0 ? min(seconds, 1e9) : 0)
  }

  /// Seconds since this instant.
  package var secondsUntilNow: Double {
    let elapsed = duration(to: .now).components
    return Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
  }
}
