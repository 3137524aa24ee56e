/// Turns gravity readings into a `DeviceOrientation` that doesn't flicker. Readings far from 1 g
/// are rejected, the rest are filtered. A gap separates neighbouring orientations, and a change
/// must settle.
///
/// This is a value: copy it to try a reading. Settling is checked only when a reading arrives. The
/// first orientation, from `unknown`, is adopted at once. A reading that is rejected or
/// inconclusive keeps the current orientation. If time goes backwards, the filter and all waits
/// restart.
public struct GravityClassifier: Sendable, Hashable {
  /// The constants.
  public let configuration: Configuration
  /// The current orientation.
  public private(set) var orientation: DeviceOrientation

  private var motion = Motion()
  private var candidate: Candidate?
  private var isOverhead = false

  /// An orientation that has not settled yet.
  private struct Candidate: Sendable, Hashable {
    var orientation: DeviceOrientation
    var since: Double
  }

  /// Creates a classifier that starts at `orientation`.
  public init(
    configuration: Configuration = .android, orientation: DeviceOrientation = .unknown
  ) {
    self.configuration = configuration
    self.orientation = orientation
  }

  /// Processes one reading and returns the orientation after it, which is also stored in
  /// `orientation`.
  ///
  /// - Parameters:
  ///   - gravity: the reading, in g, pointing down.
  ///   - seconds: its time, on any clock that doesn't stop.
  /// - Throws: `GravityError` if a number is NaN or infinite. The state is unchanged in that case.
  @discardableResult
  public mutating func classify(
    _ gravity: Gravity, at seconds: Double
  ) throws(GravityError) -> DeviceOrientation {
    guard gravity.isFinite else { throw .readingNotFinite(gravity) }
    guard seconds.isFinite else { throw .timeNotFinite(seconds) }
    if motion.isBefore(seconds) {
      motion = Motion()
      candidate = nil
      isOverhead = false
    }
    guard let filtered = motion.process(gravity, at: seconds, configuration) else {
      return orientation
    }
    if let pose = pose(of: filtered) {
      settle(pose, at: seconds)
    } else {
      candidate = nil
    }
    if orientation.isFlat { motion.recordFlat(filtered, at: seconds, configuration) }
    return orientation
  }

  /// Adopts `pose` once it has lasted long enough and no shake, swing or flat position came just
  /// before.
  private mutating func settle(_ pose: DeviceOrientation, at seconds: Double) {
    guard pose != orientation else {
      candidate = nil
      return
    }
    let since: Double
    if let candidate, candidate.orientation == pose {
      since = candidate.since
    } else {
      since = seconds
    }
    candidate = Candidate(orientation: pose, since: since)
    let needed = pose.isFlat ? configuration.flatTime : configuration.settleTime
    guard
      orientation == .unknown
        || (seconds - since >= needed && (pose.isFlat || motion.isCalm(at: seconds, configuration)))
    else { return }
    orientation = pose
    candidate = nil
  }

  /// Returns the orientation of a single filtered reading, or `nil` if it is inconclusive.
  private mutating func pose(of gravity: Gravity) -> DeviceOrientation? {
    // Whole degrees, as in both original sources: 67.0 must not become 66.9999.
    let tilt = gravity.tiltDegrees.rounded()
    if tilt >= configuration.flatAngle { return .faceUp }
    if tilt <= -configuration.flatAngle { return .faceDown }
    switch configuration.rule {
    case .nearestQuarter(let gap, let limits):
      if tilt <= limits.overheadEnter {
        isOverhead = true
      } else if tilt >= limits.overheadExit {
        isOverhead = false
      }
      guard !isOverhead else { return nil }
      return nearestQuarter(gravity, tilt: tilt, gap: gap, limits: limits)
    case .axisThreshold(let threshold):
      return overThreshold(gravity, threshold)
    }
  }

  private func nearestQuarter(
    _ gravity: Gravity, tilt: Double, gap: Double, limits: TiltLimits
  ) -> DeviceOrientation? {
    let angle = gravity.counterClockwiseDegrees.rounded()  // -180...180
    let turns = ((angle + 45) / 90).rounded(.down)  // -2...2
    let nearest = Self.counterClockwise[Int(turns) & 3]
    guard limits.range(for: nearest).contains(tilt) else { return nil }
    guard let here = Self.counterClockwise.firstIndex(of: orientation) else { return nearest }
    // Half the gap on each side of the diagonal, in whole degrees, as the original source divides.
    let reach = 45 - (gap / 2).rounded(.down)
    let offset = angle - turns * 90
    let step = (Int(turns) - here) & 3
    // The lower edge applies when the device comes from the clockwise neighbour or stays where it
    // is; the upper edge when it comes from the counter-clockwise neighbour or stays.
    if (step == 0 || step == 1) && offset < -reach { return nil }
    if (step == 0 || step == 3) && offset > reach { return nil }
    return nearest
  }

  private func overThreshold(_ gravity: Gravity, _ threshold: Double) -> DeviceOrientation? {
    let x = Trigonometry.degrees(
      y: gravity.x, x: Trigonometry.length(gravity.y, gravity.z)
    ).rounded()
    let y = Trigonometry.degrees(
      y: gravity.y, x: Trigonometry.length(gravity.x, gravity.z)
    ).rounded()
    switch (abs(x) > threshold, abs(y) > threshold) {
    case (true, false): return x > 0 ? .landscapeRight : .landscapeLeft
    case (false, true): return y > 0 ? .portraitUpsideDown : .portrait
    case (true, true), (false, false): return nil
    }
  }

  /// The upright orientations in the order of a counter-clockwise rotation of the device.
  private static let counterClockwise: [DeviceOrientation] = [
    .portrait, .landscapeLeft, .portraitUpsideDown, .landscapeRight,
  ]
}

extension DeviceOrientation {
  /// Whether the device is flat, with its screen facing up or down.
  public var isFlat: Bool { self == .faceUp || self == .faceDown }
}
