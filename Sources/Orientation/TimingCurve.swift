/// An animation's timing function: a cubic Bézier curve from (0, 0) to (1, 1), given by its two
/// control points as in Core Animation and CSS.
public struct TimingCurve: Sendable, Hashable {
  /// The first control point; x in 0...1.
  public let first: Point
  /// The second control point; x in 0...1.
  public let second: Point

  /// Slow at both ends: UIKit's default, (0.42, 0) and (0.58, 1).
  public static let easeInOut = TimingCurve(Point(x: 0.42, y: 0), Point(x: 0.58, y: 1))

  /// Creates a curve from two control points. Their x are clamped to 0...1, so that each time has
  /// one value.
  public init(_ first: Point, _ second: Point) {
    func bounded(_ x: Double) -> Double { x >= 0 ? min(x, 1) : 0 }
    self.first = Point(x: bounded(first.x), y: first.y)
    self.second = Point(x: bounded(second.x), y: second.y)
  }

  /// Returns the progress at `time`, a fraction of the duration; 0 before the start and 1 after the
  /// end. Accurate to the last few bits of a `Double`.
  public func value(at time: Double) -> Double {
    guard time > 0 else { return 0 }
    guard time < 1 else { return 1 }
    // x increases with the curve's parameter, so bisection finds it, to the last bit.
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
