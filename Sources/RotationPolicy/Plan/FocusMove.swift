public import UprightOrientation

/// A move of the focus: the point of the upright frame that is kept in the middle of a canvas that crops the
/// frame.
public struct FocusMove: Sendable, Hashable {
  /// The focus before the move. Both axes are 0...1: x from left to right, y from top to bottom.
  public var from: UprightOrientation.Point
  /// The focus after the move.
  public var to: UprightOrientation.Point
  /// The start, in seconds.
  public var starts: Double
  /// The end, in seconds. Not earlier than the start.
  public var ends: Double

  /// Creates a move.
  public init(
    from: UprightOrientation.Point, to: UprightOrientation.Point, starts: Double, ends: Double
  ) {
    self.from = from
    self.to = to
    self.starts = starts
    self.ends = ends
  }

  /// Returns the focus for the frame whose PTS is `seconds`: slow at both ends of the move.
  public func point(at seconds: Double) -> UprightOrientation.Point {
    guard ends > starts else { return to }
    let progress = TimingCurve.easeInOut.value(at: (seconds - starts) / (ends - starts))
    return UprightOrientation.Point(
      x: from.x + (to.x - from.x) * progress, y: from.y + (to.y - from.y) * progress)
  }
}

/// How the focus moves.
public struct FocusRule: Sendable, Hashable {
  /// The focus before the first event.
  public var start: UprightOrientation.Point
  /// The duration of a move, in seconds.
  public var ease: Double

  /// The durations that are valid, in seconds.
  package static let durations = 0.0...60.0

  /// Creates a rule.
  public init(start: UprightOrientation.Point = .init(x: 0.5, y: 0.5), ease: Double = 0.5) {
    self.start = start
    self.ease = ease
  }
}
