extension GravityClassifier {
  /// The rule by which an upright orientation is told from the direction of gravity.
  public enum UprightRule: Sendable, Hashable {
    /// The nearest quarter turn in the plane of the screen, with a gap around the diagonals in which
    /// the current orientation stays, and a range of tilt for each orientation. Android's.
    case nearestQuarter(gapDegrees: Double, tilt: TiltLimits)
    /// The axis that rises over the threshold, while the other does not; both or neither keep the
    /// current orientation. iio-sensor-proxy's.
    case axisThreshold(degrees: Double)
  }

  /// How far the screen may lean for an orientation to be believed, in degrees: positive to the sky.
  public struct TiltLimits: Sendable, Hashable {
    /// The range for portrait.
    public var portrait: ClosedRange<Double>
    /// The range for both landscapes.
    public var landscape: ClosedRange<Double>
    /// The range for upside down, the narrowest.
    public var upsideDown: ClosedRange<Double>
    /// Leaning to the ground this far, the device is held overhead and says nothing...
    public var overheadEnter: Double
    /// ...until it comes back to this.
    public var overheadExit: Double

    /// Ranges in degrees; the defaults are Android's `TILT_TOLERANCE` and `TILT_OVERHEAD_*`.
    public init(
      portrait: ClosedRange<Double> = -25...70, landscape: ClosedRange<Double> = -25...65,
      upsideDown: ClosedRange<Double> = -25...60, overheadEnter: Double = -40,
      overheadExit: Double = -15
    ) {
      self.portrait = portrait
      self.landscape = landscape
      self.upsideDown = upsideDown
      self.overheadEnter = overheadEnter
      self.overheadExit = overheadExit
    }

    func range(for orientation: DeviceOrientation) -> ClosedRange<Double> {
      switch orientation {
      case .landscapeLeft, .landscapeRight: landscape
      case .portraitUpsideDown: upsideDown
      case .portrait, .unknown, .faceUp, .faceDown: portrait
      }
    }
  }

  /// The constants of the classifier. Times are seconds, angles degrees, accelerations g. A time of 0
  /// waits for nothing.
  public struct Configuration: Sendable, Hashable {
    /// How an upright orientation is recognised.
    public var rule: UprightRule = .nearestQuarter(gapDegrees: 45, tilt: TiltLimits())
    /// Time constant of the low pass filter (`FILTER_TIME_CONSTANT_MS`); 0 = no filter.
    public var filterTimeConstant: Double = 0.2
    /// After a longer pause the filter starts afresh (`MAX_FILTER_DELTA_TIME_NANOS`).
    public var filterMaximumPause: Double = 1
    /// A reading this far from 1 g is rejected (`ACCELERATION_TOLERANCE`, 4 m/s²).
    public var magnitudeTolerance: Double = 4 / Self.standardGravity
    /// A filtered reading shorter than this has no direction (`NEAR_ZERO_MAGNITUDE`, 1 m/s²).
    public var nearZeroMagnitude: Double = 1 / Self.standardGravity
    /// How long a new upright orientation must last (`PROPOSAL_SETTLE_TIME_NANOS`).
    public var settleTime: Double = 0.04
    /// From this tilt on the device lies flat, either way up (`FLAT_ANGLE`); over 90 = never.
    public var flatAngle: Double = 80
    /// How long it must lie flat to be faceUp or faceDown (`FLAT_TIME_NANOS`).
    public var flatTime: Double = 1
    /// Wait after it lay flat (`PROPOSAL_MIN_TIME_SINCE_FLAT_ENDED_NANOS`).
    public var waitAfterFlat: Double = 0.5
    /// The screen leaning back by this much within `swingTime` is a phone being put down
    /// (`SWING_AWAY_ANGLE_DELTA`).
    public var swingAngle: Double = 20
    /// The time in which `swingAngle` counts (`SWING_TIME_NANOS`).
    public var swingTime: Double = 0.3
    /// Wait after such a swing (`PROPOSAL_MIN_TIME_SINCE_SWING_ENDED_NANOS`).
    public var waitAfterSwing: Double = 0.3
    /// Wait after a rejected reading (`PROPOSAL_MIN_TIME_SINCE_ACCELERATION_ENDED_NANOS`).
    public var waitAfterRejection: Double = 0.5

    /// Standard gravity in m/s², by which the sources' accelerations are divided.
    public static let standardGravity = 9.80665

    /// Android's constants, to be changed one by one.
    public init() {}

    /// `WindowOrientationListener` of the Android Open Source Project; the names in this type's
    /// comments are its. Android knows no faceDown and holds no orientation while flat; here the
    /// flat cone is the same on both sides and ends in faceUp and faceDown.
    public static let android = Configuration()

    /// `orientation.c` of iio-sensor-proxy: 35 degrees on either axis, no filter and no waiting. The
    /// flat cone and the rejection of shaking, which it does not have, are Android's.
    public static let iioSensorProxy: Configuration = {
      var configuration = Configuration()
      configuration.rule = .axisThreshold(degrees: 35)
      configuration.filterTimeConstant = 0
      configuration.settleTime = 0
      configuration.flatTime = 0
      configuration.waitAfterFlat = 0
      configuration.waitAfterSwing = 0
      configuration.waitAfterRejection = 0
      return configuration
    }()
  }
}
