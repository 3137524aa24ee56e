package import UprightOrientation

/// Decides which frames become IDR frames: the first frame of each segment. Each format starts a new count.
package struct KeyframeClock {
  private let interval: MediaTime?
  private var last: (time: MediaTime, canvas: PixelSize)?

  /// - Parameter interval: The length of a segment; `nil` to force no keyframes.
  package init(every interval: MediaTime?) { self.interval = interval }

  /// Returns whether the frame at `time` must be an IDR frame.
  ///
  /// - Parameter isFirst: Whether the frame is the first of a new format, which is always an IDR frame.
  package mutating func isDue(at time: MediaTime, canvas: PixelSize, isFirst: Bool = false) -> Bool
  {
    guard let interval else { return false }
    if let last, last.canvas == canvas, !isFirst, time - last.time < interval - .millisecond {
      return false
    }
    last = (time, canvas)
    return true
  }

  /// Returns the clock of another canvas that has the same keyframes from now on.
  package func continued(on canvas: PixelSize) -> KeyframeClock {
    var clock = self
    clock.last?.canvas = canvas
    return clock
  }

  /// Returns whether a segment ends before a keyframe that comes `elapsed` after its start.
  ///
  /// The tolerance is twice that of `isDue`, so every keyframe that `isDue` asked for ends a segment even
  /// after timestamps are rounded to the output's time base.
  package static func ends(after elapsed: MediaTime, of interval: MediaTime) -> Bool {
    elapsed >= interval - .millisecond - .millisecond
  }
}
