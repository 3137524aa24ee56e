/// The shape in which stored frames are shown, before they are turned.
///
/// A stored frame has no shape of its own: its pixels need not be square. Which way up it is, the size of the
/// stream and the fit follow from the size that is shown.
package struct FrameShape: Sendable, Hashable {
  /// The size of the frame in stored pixels, without what the bitstream or the container crops.
  package let stored: PixelSize
  /// The width of a stored pixel over its height, as it is shown.
  package let sampleAspectRatio: Rational
  /// Shown lines per stored line.
  package let lineScale: Double

  package init(
    stored: PixelSize, sampleAspectRatio: Rational = .one, lineScale: Double = 1
  ) {
    self.stored = stored
    self.sampleAspectRatio = sampleAspectRatio.asSampleAspectRatio
    self.lineScale = lineScale
  }

  /// The size that is shown, in square pixels: the nearest integers, at least 1.
  package var shown: PixelSize {
    PixelSize(
      Self.length(stored.width, sampleAspectRatio.doubleValue * lineScale),
      Self.length(stored.height, lineScale))
  }

  /// The shown size rounded down to even numbers, at least 2. This is the size of `--size source`.
  package var streamSize: PixelSize { shown.even }

  private static func length(_ stored: Int, _ scale: Double) -> Int {
    let length = Double(min(max(0, stored), PixelSize.limit)) * scale
    return max(1, Int(clamping: min(length, Double(PixelSize.limit))))
  }
}

extension PixelSize {
  /// The size with both sides rounded down to an even number, at least 2.
  fileprivate var even: PixelSize { PixelSize(max(2, width & ~1), max(2, height & ~1)) }
}
