/// Gravity readings to a `DeviceOrientation` that does not flicker: readings far from 1 g are
/// rejected, the rest filtered; neighbours are kept apart by a gap, and a change must settle.
///
/// A value: copy it to try a reading. Settling is judged only when a reading comes; the first
/// orientation, from `unknown`, is taken at once. A reading that is rejected or says nothing keeps
/// the current orientation. If time goes backwards the filter and all waiting start afresh.
public struct GravityClassifier: Sendable, Hashable {
  /// The constants.
  public let configuration: Configuration
  /// The current orientation.
  public private(set) var orientation: DeviceOrientation

  private var motion = Motion()
  private var candidate: Candidate?
  private var isOverhead = false

  /// An orientation that waits to settle.
  private struct Candidate: Sendable, Hashable {
    var orientation: DeviceOrientation
    var since: Double
  }

  /// A classifier that starts at `orientation`.
  public init(
    configuration: Configuration = .android, orientation: DeviceOrientation = .unknown
  ) {
    self.configuration = configuration
    self.orientation = orientation
  }

  /// The orientation after one more reading, which is also kept in `orientation`.
  ///
  /// - Parameters:
  ///   - gravity: the reading, in g, pointing down.
  ///   - seconds: its time on any clock that does not stop.
  /// - Throws: `GravityError` where a number is NaN or infinite; nothing has changed then.
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
    guard let filtered = motion.take(gravity, at: seconds, configuration) else {
      return orientation
    }
    if let pose = pose(of: filtered) {
      settle(pose, at: seconds)
    } else {
      candidate = nil
    }
    if orientation.isFlat { motion.noteFlat(filtered, at: seconds, configuration) }
    return orientation
  }

  /// Takes `pose` over once it has lasted and nothing happened just before.
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

  /// What a filtered reading says by itself; nil where it says nothing.
  private mutating func pose(of gravity: Gravity) -> DeviceOrientation? {
    // Whole degrees, as both sources have it: 67.0 must not become 66.9999.
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
    // Half the gap on each side of the diagonal, in whole degrees as the source divides.
    let reach = 45 - (gap / 2).rounded(.down)
    let offset = angle - turns * 90
    let step = (Int(turns) - here) & 3
    // Entered from the clockwise neighbour, or held against it: the lower edge counts; and so on.
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

  /// The upright orientations in the order in which the device turns counter-clockwise.
  private static let counterClockwise: [DeviceOrientation] = [
    .portrait, .landscapeLeft, .portraitUpsideDown, .landscapeRight,
  ]
}

extension DeviceOrientation {
  /// Whether the device lies with its screen to the sky or to the ground.
  public var isFlat: Bool { self == .faceUp || self == .faceDown }
}
