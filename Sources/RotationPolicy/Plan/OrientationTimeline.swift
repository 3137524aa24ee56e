public import Orientation

/// How the device is held, how the app is laid out and which turn is under way, over time: what the
/// media path asks for each frame.
public struct OrientationTimeline: Sendable, Hashable {
  /// What holds from `at` on.
  public struct Point: Sendable, Hashable {
    /// Seconds on the media timeline.
    public var at: Double
    /// The last upright orientation of the device, for sensor frames; where it was never upright, the
    /// one under which the app stands upright.
    public var device: DeviceOrientation
    /// The app orientation that is laid out: the new one from `didRotate` on.
    public var appOrientation: InterfaceOrientation
    /// The turn that is under way; nil at rest, and always where turns are cuts.
    public var turn: Turn?
    /// Whether the camera is sent (`captureEnabledIn`).
    public var isCaptureEnabled: Bool

    /// A point.
    public init(
      at: Double, device: DeviceOrientation, appOrientation: InterfaceOrientation,
      turn: Turn? = nil, isCaptureEnabled: Bool = true
    ) {
      self.at = at
      self.device = device
      self.appOrientation = appOrientation
      self.turn = turn
      self.isCaptureEnabled = isCaptureEnabled
    }

    /// Whether nothing but the time tells the two apart.
    func holdsTheSame(as other: Point) -> Bool {
      var other = other
      other.at = at
      return self == other
    }
  }

  /// In the order of time, never empty; two neighbours differ.
  public private(set) var points: [Point]

  /// A frame this much before an event's time belongs to it already: the timestamp grain of MKV
  /// and FLV, and a nanosecond for the arithmetic.
  public static let grain = 0.001 + 1e-9

  /// A timeline that starts with `point`.
  public init(start point: Point) { points = [point] }

  /// The latest point.
  public var last: Point { points[points.count - 1] }

  /// Adds a point, or replaces the last one where it is of the same instant. A time before the last
  /// point's counts as the last point's.
  public mutating func append(_ point: Point) {
    var point = point
    let last = self.last
    point.at = max(point.at, last.at)
    if point.at == last.at { points.removeLast() }
    if let before = points.last, before.holdsTheSame(as: point) { return }
    points.append(point)
  }

  /// What holds for the frame whose PTS is `seconds`: an event takes effect at the first frame whose
  /// PTS is >= its time - 1 ms. Before the first point the first one holds. O(log points).
  public func point(at seconds: Double) -> Point { points[index(at: seconds)] }

  /// The index in `points` of what holds for the frame whose PTS is `seconds`.
  public func index(at seconds: Double) -> Int {
    let reach = seconds + Self.grain
    var low = 0
    var high = points.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if points[middle].at <= reach { low = middle } else { high = middle }
    }
    return low
  }

  /// Forgets what no frame at or after `seconds` asks for: a live session would grow for ever.
  public mutating func forget(before seconds: Double) {
    points.removeFirst(index(at: seconds))
  }
}
