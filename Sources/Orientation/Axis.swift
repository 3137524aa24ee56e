/// One axis of a placement: lengths and offsets brought to a grid. No arithmetic here can overflow
/// for limits up to 2^31, and every length is in 1...limit.
enum Axis {
  /// How much of the shape may be given up, beyond one step, to avoid a bar too thin to look
  /// intended: one part in fifty.
  static let toleratedDistortion = 50.0

  /// The length on the grid nearest to `exact`, or all of `limit`.
  ///
  /// - Parameters:
  ///   - exact: the length that would keep the shape; may be larger than the limit.
  ///   - native: the length at which this axis is not scaled; kept where the grid allows it.
  ///   - limit: the length there is, at least 1.
  ///   - step: the grid, at least 1.
  static func length(_ exact: Double, native: Int, within limit: Int, step: Int) -> Int {
    let rest = Double(limit) - exact
    if !(rest >= Double(step)) { return limit }
    if exact == Double(native), native.isMultiple(of: step) { return native }
    if rest < 2 * Double(step), rest * toleratedDistortion <= Double(limit) { return limit }
    // exact <= limit - step here, so step <= limit and the sum stays inside; a tie goes down.
    let steps = (exact / Double(step) - 0.5).rounded(.up)
    return max(1, Int(steps)) * step
  }

  /// The offset on the grid nearest to `fraction` (0, 0.5 or 1) of the spare length; a tie goes
  /// towards 0.
  static func offset(of length: Int, within limit: Int, fraction: Double, step: Int) -> Int {
    let spare = limit - length
    let steps = (Double(spare) * fraction / Double(step) - 0.5).rounded(.up)
    return min(max(0, Int(steps)), spare / step) * step
  }

  /// The part of `0 ..< limit` that a crop asks for, on the grid; nil where nothing is left.
  static func aligned(
    from start: Int, length: Int, within limit: Int, step: Int
  ) -> (start: Int, length: Int)? {
    let low = min(max(0, start), limit)
    let (end, overflows) = start.addingReportingOverflow(max(0, length))
    let high = overflows ? limit : min(max(0, end), limit)
    guard high > low else { return nil }
    if low == 0 && high == limit { return (0, limit) }
    guard limit >= step else { return (0, limit) }
    // Whole steps only; the last one may not reach over an odd edge.
    let last = limit / step
    let first = min((low + step / 2) / step, last - 1)
    let lastStep = max(first + 1, min((high + step / 2) / step, last))
    return (first * step, (lastStep - first) * step)
  }
}
