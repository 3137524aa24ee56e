package import Orientation

/// Decides which frames become IDRs: one at the start of each segment, counted anew from every format.
package struct KeyframeClock {
  private let interval: Double?
  private var last: (seconds: Double, canvas: PixelSize)?

  /// Seconds by which a frame may be early: a millisecond is the grain of FLV and Matroska.
  private static let early = 0.001

  /// - Parameter interval: seconds of a segment; `nil` if no keyframes are asked for.
  package init(every interval: Double?) { self.interval = interval }

  /// Whether the frame at `seconds` must be an IDR.
  ///
  /// - Parameter isFirst: whether it is the first of a new format: then it is an IDR in any case.
  package mutating func isDue(at seconds: Double, canvas: PixelSize, isFirst: Bool = false) -> Bool
  {
    guard let interval else { return false }
    if let last, last.canvas == canvas, !isFirst, seconds - last.seconds < interval - Self.early {
      return false
    }
    last = (seconds, canvas)
    return true
  }

  /// Whether a segment ends before a keyframe that comes `elapsed` seconds after its start.
  ///
  /// Every frame that `isDue` asked for ends one: the margin is twice as wide, and so holds whatever the
  /// ticks of the output have rounded away.
  package static func ends(after elapsed: Double, of interval: Double) -> Bool {
    elapsed >= interval - 2 * early
  }
}
