extension GravityClassifier {
  /// The classifier's state from previous readings: the filter, and when the device was last
  /// shaken, swung or flat.
  struct Motion: Sendable, Hashable {
    private var latest: Double?
    private var filtered: Gravity?
    private var filteredAt = 0.0
    private var rejectedAt: Double?
    private var swungAt: Double?
    private var flatAt: Double?
    private var tilts: [Tilt] = []

    private struct Tilt: Sendable, Hashable {
      var seconds: Double
      var degrees: Double
    }

    /// The maximum number of stored tilts (`TILT_HISTORY_SIZE`).
    private static let historySize = 200

    /// Whether the last reading is later than `seconds`, that is, whether time went backwards.
    func isBefore(_ seconds: Double) -> Bool {
      latest.map { seconds < $0 } ?? false
    }

    /// Checks and filters one reading. Returns `nil` if it is rejected or too short to have a
    /// direction.
    mutating func process(
      _ gravity: Gravity, at seconds: Double, _ configuration: Configuration
    ) -> Gravity? {
      latest = seconds
      guard abs(gravity.magnitude - 1) <= configuration.magnitudeTolerance else {
        rejectedAt = seconds
        return nil
      }
      let smooth = filter(gravity, at: seconds, configuration)
      guard smooth.magnitude >= configuration.nearZeroMagnitude else { return nil }
      recordSwing(smooth.tiltDegrees.rounded(), at: seconds, configuration)
      return smooth
    }

    /// A first-order low-pass filter: `dt / (constant + dt)` of the new reading.
    private mutating func filter(
      _ gravity: Gravity, at seconds: Double, _ configuration: Configuration
    ) -> Gravity {
      var result = gravity
      let pause = seconds - filteredAt
      if let old = filtered, configuration.filterTimeConstant > 0,
        pause <= configuration.filterMaximumPause
      {
        let share = pause / (configuration.filterTimeConstant + pause)
        result.x = old.x + share * (gravity.x - old.x)
        result.y = old.y + share * (gravity.y - old.y)
        result.z = old.z + share * (gravity.z - old.z)
      }
      filtered = result
      filteredAt = seconds
      return result
    }

    private mutating func recordSwing(
      _ degrees: Double, at seconds: Double, _ configuration: Configuration
    ) {
      tilts.removeAll { seconds - $0.seconds > configuration.swingTime }
      if tilts.contains(where: { $0.degrees + configuration.swingAngle <= degrees }) {
        swungAt = seconds
      }
      if tilts.count == Self.historySize { tilts.removeFirst() }
      tilts.append(Tilt(seconds: seconds, degrees: degrees))
    }

    /// Stores the time if the device, which is faceUp or faceDown, is still flat.
    mutating func recordFlat(
      _ gravity: Gravity, at seconds: Double, _ configuration: Configuration
    ) {
      if abs(gravity.tiltDegrees.rounded()) >= configuration.flatAngle { flatAt = seconds }
    }

    /// Whether enough time has passed since the device was shaken, swung or flat.
    func isCalm(at seconds: Double, _ configuration: Configuration) -> Bool {
      func hasEnded(_ time: Double?, _ wait: Double) -> Bool {
        time.map { seconds - $0 >= wait } ?? true
      }
      return hasEnded(rejectedAt, configuration.waitAfterRejection)
        && hasEnded(swungAt, configuration.waitAfterSwing)
        && hasEnded(flatAt, configuration.waitAfterFlat)
    }
  }
}
