package import Orientation

/// Decides which frames become IDR frames: the first frame of each segment. Each format starts a new count.
package struct KeyframeClock {
  private let interval: Double?
  private var last: (seconds: Double, canvas: PixelSize)?

  /// How early a frame may be, in seconds: one millisecond, the timestamp resolution of FLV and Matroska.
  private static let early = 0.001

  /// - Parameter interval: The length of a segment in seconds; `nil` to force no keyframes.
  package init(every interval: Double?) { self.interval = interval }

  /// Returns whether the frame at `seconds` must be an IDR frame.
  ///
  /// - Parameter isFirst: Whether the frame is the first of a new format, which is always an IDR frame.
  package mutating func isDue(at seconds: Double, canvas: PixelSize, isFirst: Bool = false) -> Bool
  {
    guard let interval else { return false }
    if let last, last.canvas == canvas, !isFirst, seconds - last.seconds < interval - Self.early {
      return false
    }
    last = (seconds, canvas)
    return true
  }

  /// Returns whether a segment ends before a keyframe that comes `elapsed` seconds after its start.
  ///
  /// The tolerance is twice that of `isDue`, so every keyframe that `isDue` asked for ends a segment even
  /// after timestamps are rounded to the output's time base.
  package static func ends(after elapsed: Double, of interval: Double) -> Bool {
    elapsed >= interval - 2 * early
  }
}
