public import Orientation

extension OrientationTimeline {
  /// A turn that takes its time, from `willRotate` to `didRotate`, as it is shown (spec 3, "Turns on
  /// screen").
  ///
  /// Turns never overlap: one that is asked for meanwhile starts at this one's `didRotate`.
  public struct Turn: Sendable, Hashable {
    /// The app orientation before.
    public var from: InterfaceOrientation
    /// The app orientation after.
    public var to: InterfaceOrientation
    /// How it is shown; never a cut.
    public var style: Transition.Style
    /// `willRotate` in seconds.
    public var starts: Double
    /// `didRotate` in seconds, after `starts`.
    public var ends: Double

    /// A turn.
    public init(
      from: InterfaceOrientation, to: InterfaceOrientation, style: Transition.Style,
      starts: Double, ends: Double
    ) {
      self.from = from
      self.to = to
      self.style = style
      self.starts = starts
      self.ends = ends
    }

    /// How far the turn is for the frame whose PTS is `seconds`: 0 at its start, below 1 to its end.
    public func progress(at seconds: Double) -> Double {
      guard ends > starts, seconds > starts else { return 0 }
      return min((seconds - starts) / (ends - starts), 1.0.nextDown)
    }

    /// What the interface turns by on the screen, clockwise, the shortest way: 90, -90, or 180, which
    /// goes clockwise in either direction.
    public var clockwiseDegrees: Int {
      let difference =
        (from.device.clockwiseDegrees ?? 0) - (to.device.clockwiseDegrees ?? 0)
      let turn = (difference % 360 + 360) % 360
      return turn > 180 ? turn - 360 : turn
    }
  }
}
