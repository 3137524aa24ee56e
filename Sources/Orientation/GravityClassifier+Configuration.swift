extension GravityClassifier {
  /// The rule that derives an upright orientation from the direction of gravity.
  public enum UprightRule: Sendable, Hashable {
    /// The nearest quarter turn in the plane of the screen, with a gap around the diagonals in
    /// which the current orientation is kept, and a range of tilt for each orientation. Android's
    /// rule.
    case nearestQuarter(gapDegrees: Double, tilt: TiltLimits)
    /// The axis whose angle exceeds the threshold while the other axis's doesn't. If both or
    /// neither exceed it, the current orientation is kept. iio-sensor-proxy's rule.
    case axisThreshold(degrees: Double)
  }

  /// The range of tilt in which an orientation is accepted, in degrees; positive when the screen
  /// leans back to face up.
  public struct TiltLimits: Sendable, Hashable {
    /// The range for portrait.
    public var portrait: ClosedRange<Double>
    /// The range for both landscapes.
    public var landscape: ClosedRange<Double>
    /// The range for upside down, the narrowest.
    public var upsideDown: ClosedRange<Double>
    /// At or below this tilt (the screen faces down) the device is held overhead, and its
    /// orientation is ignored...
    public var overheadEnter: Double
    /// ...until the tilt is at or above this value again.
    public var overheadExit: Double

    /// Creates limits in degrees. The defaults are Android's `TILT_TOLERANCE` and
    /// `TILT_OVERHEAD_*`.
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

  /// The constants of the classifier. Times are in seconds, angles in degrees, accelerations in g.
  /// A time of 0 disables the wait.
  public struct Configuration: Sendable, Hashable {
    /// How an upright orientation is recognised.
    public var rule: UprightRule = .nearestQuarter(gapDegrees: 45, tilt: TiltLimits())
    /// Time constant of the low-pass filter (`FILTER_TIME_CONSTANT_MS`); 0 disables it.
    public var filterTimeConstant: Double = 0.2
    /// The filter restarts after a longer pause (`MAX_FILTER_DELTA_TIME_NANOS`).
    public var filterMaximumPause: Double = 1
    /// A reading whose length differs from 1 g by more than this is rejected
    /// (`ACCELERATION_TOLERANCE`, 4 m/s²).
    public var magnitudeTolerance: Double = 4 / Self.standardGravity
    /// A filtered reading shorter than this has no direction (`NEAR_ZERO_MAGNITUDE`, 1 m/s²).
    public var nearZeroMagnitude: Double = 1 / Self.standardGravity
    /// The time for which a new upright orientation must last (`PROPOSAL_SETTLE_TIME_NANOS`).
    public var settleTime: Double = 0.04
    /// The tilt from which the device is flat, face up or face down (`FLAT_ANGLE`); over 90 =
    /// never.
    public var flatAngle: Double = 80
    /// The time for which the device must be flat to become faceUp or faceDown (`FLAT_TIME_NANOS`).
    public var flatTime: Double = 1
    /// The wait after the device was flat (`PROPOSAL_MIN_TIME_SINCE_FLAT_ENDED_NANOS`).
    public var waitAfterFlat: Double = 0.5
    /// If the screen leans back by this much within `swingTime`, the phone is being put down
    /// (`SWING_AWAY_ANGLE_DELTA`).
    public var swingAngle: Double = 20
    /// The time within which `swingAngle` counts (`SWING_TIME_NANOS`).
    public var swingTime: Double = 0.3
    /// The wait after such a swing (`PROPOSAL_MIN_TIME_SINCE_SWING_ENDED_NANOS`).
    public var waitAfterSwing: Double = 0.3
    /// The wait after a rejected reading (`PROPOSAL_MIN_TIME_SINCE_ACCELERATION_ENDED_NANOS`).
    public var waitAfterRejection: Double = 0.5

    /// Standard gravity in m/s², by which the original sources' accelerations are divided.
    public static let standardGravity = 9.80665

    /// Creates a configuration with Android's constants.
    public init() {}

    /// `WindowOrientationListener` of the Android Open Source Project; the names in this type's
    /// comments are from it. Android has no faceDown and reports no orientation while flat. Here
    /// the flat cone is the same on both sides and results in faceUp and faceDown.
    public static let android = Configuration()

    /// `orientation.c` of iio-sensor-proxy: 35 degrees on either axis, no filter and no waiting. It
    /// has no flat cone and doesn't reject shaking; Android's values are used for both.
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
