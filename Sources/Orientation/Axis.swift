/// One axis of a placement: snaps lengths and offsets to a grid. No arithmetic here can overflow
/// for limits up to 2^31, and every length is in 1...limit.
enum Axis {
  /// The share of the aspect ratio, one part in fifty, that may be lost beyond one grid step to
  /// avoid a bar too thin to look intended.
  static let toleratedDistortion = 50.0

  /// Returns the grid length nearest to `exact`, or `limit`.
  ///
  /// - Parameters:
  ///   - exact: the length that keeps the aspect ratio; may be larger than `limit`.
  ///   - native: the length at which this axis is not scaled; kept if the grid allows it.
  ///   - limit: the available length, at least 1.
  ///   - step: the grid step, at least 1.
  static func length(_ exact: Double, native: Int, within limit: Int, step: Int) -> Int {
    let rest = Double(limit) - exact
    if !(rest >= Double(step)) { return limit }
    if exact == Double(native), native.isMultiple(of: step) { return native }
    if rest < 2 * Double(step), rest * toleratedDistortion <= Double(limit) { return limit }
    // exact <= limit - step here, so step <= limit and the sum stays within the limit. A tie rounds
    // down.
    let steps = (exact / Double(step) - 0.5).rounded(.up)
    return max(1, Int(steps)) * step
  }

  /// Returns the grid offset nearest to `fraction` (0, 0.5 or 1) of the spare length. A tie rounds
  /// towards 0.
  static func offset(of length: Int, within limit: Int, fraction: Double, step: Int) -> Int {
    let spare = limit - length
    let steps = (Double(spare) * fraction / Double(step) - 0.5).rounded(.up)
    return min(max(0, Int(steps)), spare / step) * step
  }

  /// Returns the part of `0 ..< limit` that a crop selects, snapped to the grid, or `nil` if
  /// nothing is left.
  static func aligned(
    from start: Int, length: Int, within limit: Int, step: Int
  ) -> (start: Int, length: Int)? {
    let low = min(max(0, start), limit)
    let (end, overflows) = start.addingReportingOverflow(max(0, length))
    let high = overflows ? limit : min(max(0, end), limit)
    guard high > low else { return nil }
    if low == 0 && high == limit { return (0, limit) }
    guard limit >= step else { return (0, limit) }
    // Whole steps only: the last step must not extend past an odd edge.
    let last = limit / step
    let first = min((low + step / 2) / step, last - 1)
    let lastStep = max(first + 1, min((high + step / 2) / step, last))
    return (first * step, (lastStep - first) * step)
  }
}
