public import UprightOrientation

/// The device orientation, the app orientation and the rotation in progress, over time.
///
/// The media path queries it for each frame.
public struct OrientationTimeline: Sendable, Hashable {
  /// The state from the time `at` on.
  public struct Point: Sendable, Hashable {
    /// The time on the media timeline, in seconds.
    public var at: Double
    /// The last upright orientation of the device, for sensor frames. If the device was never upright, the
    /// device orientation in which the app is upright.
    public var device: DeviceOrientation
    /// The app orientation of the layout. Changes at `didRotate`.
    public var appOrientation: InterfaceOrientation
    /// The rotation in progress. `nil` if there is none, and always if the transition style is `cut`.
    public var turn: Turn?
    /// Whether camera frames are sent (`captureEnabledIn`).
    public var isCaptureEnabled: Bool
    /// The last move of the focus; `nil` if there was none.
    public var focus: FocusMove?

    /// Creates a point.
    public init(
      at: Double, device: DeviceOrientation, appOrientation: InterfaceOrientation,
      turn: Turn? = nil, isCaptureEnabled: Bool = true, focus: FocusMove? = nil
    ) {
      self.at = at
      self.device = device
      self.appOrientation = appOrientation
      self.turn = turn
      self.isCaptureEnabled = isCaptureEnabled
      self.focus = focus
    }

    /// Returns whether the two points are equal except for the time.
    func holdsTheSame(as other: Point) -> Bool {
      var other = other
      other.at = at
      return self == other
    }
  }

  /// The points in order of time. Never empty. Adjacent points differ in more than the time.
  public private(set) var points: [Point]

  /// The tolerance, in seconds: an event applies to frames up to this much earlier than its time. It is the
  /// timestamp resolution of MKV and FLV (1 ms), plus a nanosecond for rounding errors.
  public static let grain = 0.001 + 1e-9

  /// Creates a timeline that starts with `point`.
  public init(start point: Point) { points = [point] }

  /// The latest point.
  public var last: Point { points[points.count - 1] }

  /// Adds a point, or replaces the last one if both have the same time. A time before that of the last point
  /// is raised to it.
  public mutating func append(_ point: Point) {
    var point = point
    let last = self.last
    point.at = max(point.at, last.at)
    if point.at == last.at { points.removeLast() }
    if let before = points.last, before.holdsTheSame(as: point) { return }
    points.append(point)
  }

  /// Returns the state for the frame whose PTS is `seconds`: an event takes effect at the first frame whose
  /// PTS is >= its time - 1 ms. Returns the first point for times before it. O(log points).
  public func point(at seconds: Double) -> Point { points[index(at: seconds)] }

  /// Returns the index in `points` of the state for the frame whose PTS is `seconds`.
  public func index(at seconds: Double) -> Int {
    let reach = seconds + Self.grain
    return max(0, points.place { $0.at <= reach } - 1)
  }

  /// Removes points that no frame at or after `seconds` needs. Without this, a live session would grow
  /// without limit.
  public mutating func forget(before seconds: Double) {
    points.removeFirst(index(at: seconds))
  }
}
