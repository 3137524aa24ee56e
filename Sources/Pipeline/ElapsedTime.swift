extension ContinuousClock.Instant {
  /// Seconds since this instant.
  package var secondsUntilNow: Double {
    let elapsed = duration(to: .now).components
    return Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
  }
}
