public import UprightOrientation

extension OrientationTimeline {
  /// An animated rotation, from `willRotate` to `didRotate`.
  ///
  /// Rotations never overlap. One that is requested during another starts at the other's `didRotate`.
  public struct Turn: Sendable, Hashable {
    /// The app orientation before the rotation.
    public var from: InterfaceOrientation
    /// The app orientation after the rotation.
    public var to: InterfaceOrientation
    /// The transition style. Never `cut`.
    public var style: Transition.Style
    /// The time of `willRotate`, in seconds.
    public var starts: Double
    /// The time of `didRotate`, in seconds. Later than `starts`.
    public var ends: Double

    /// Creates a rotation.
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

    /// Returns the progress of the rotation for the frame whose PTS is `seconds`: 0 at the start, less than 1
    /// until the end.
    public func progress(at seconds: Double) -> Double {
      guard ends > starts, seconds > starts else { return 0 }
      return min((seconds - starts) / (ends - starts), 1.0.nextDown)
    }

    /// The angle by which the interface rotates on the screen, in degrees clockwise, by the shortest way: 90,
    /// -90, or 180. A half turn is always clockwise.
    public var clockwiseDegrees: Int {
      let difference =
        (from.device.clockwiseDegrees ?? 0) - (to.device.clockwiseDegrees ?? 0)
      let turn = (difference % 360 + 360) % 360
      return turn > 180 ? turn - 360 : turn
    }
  }
}
