/// How an animation's progress follows its time: a cubic Bézier curve from (0, 0) to (1, 1), as Core
/// Animation and CSS name them by their two inner points.
public struct TimingCurve: Sendable, Hashable {
  /// The first inner point; x in 0...1.
  public let first: Point
  /// The second inner point; x in 0...1.
  public let second: Point

  /// Slow at both ends: UIKit's default, (0.42, 0) and (0.58, 1).
  public static let easeInOut = TimingCurve(Point(x: 0.42, y: 0), Point(x: 0.58, y: 1))

  /// The curve of two inner points; their x are brought into 0...1, so that each time has one value.
  public init(_ first: Point, _ second: Point) {
    func bounded(_ x: Double) -> Double { x >= 0 ? min(x, 1) : 0 }
    self.first = Point(x: bounded(first.x), y: first.y)
    self.second = Point(x: bounded(second.x), y: second.y)
  }

  /// The value at `time`, a fraction of the whole; 0 before the start and 1 after the end. Exact to
  /// the last few bits of a `Double`.
  public func value(at time: Double) -> Double {
    guard time > 0 else { return 0 }
    guard time < 1 else { return 1 }
    // x rises with the curve's parameter, so halving finds it, to the last bit.
    var (low, high) = (0.0, 1.0)
    var middle = 0.5
    while low < middle && middle < high {
      if Self.bezier(first.x, second.x, at: middle) < time { low = middle } else { high = middle }
      middle = (low + high) / 2
    }
    return Self.bezier(first.y, second.y, at: middle)
  }

  private static func bezier(_ p1: Double, _ p2: Double, at t: Double) -> Double {
    let s = 1 - t
    return 3 * s * s * t * p1 + 3 * s * t * t * p2 + t * t * t
  }
}
