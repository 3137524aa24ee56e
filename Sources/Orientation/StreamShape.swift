/// What the container says of the shape of a video stream's frames. It comes before what the bitstream says.
package struct StreamShape: Sendable, Hashable {
  /// The size of the stored frames that `crop` applies to. `nil` if the container declares none.
  package var declared: PixelSize?
  /// The part of a frame of the declared size that is shown. `nil` for all of it.
  package var crop: PixelRect?
  /// The sample aspect ratio, width to height, without the matrix's scale. `nil` if the container gives none.
  package var sampleAspectRatio: Rational?
  /// The scale of the track's matrix along the axes of the stored frame.
  package var scale = Size(width: 1, height: 1)

  package init() {}

  /// Creates the shape of frames of the size `declared`, of which `edges` are cropped.
  package init(
    declared: PixelSize, edges: (left: Int, top: Int, right: Int, bottom: Int)
  ) {
    self.init()
    self.declared = declared
    crop = Self.crop(declared, edges)
  }

  /// Sets the sample aspect ratio with which the part that is shown has the aspect ratio of `display`.
  package mutating func show(_ display: Size) {
    guard let part = crop?.size ?? declared, part.hasArea, display.width > 0, display.height > 0
    else { return }
    sampleAspectRatio = Rational(
      nearest: display.width * Double(part.height) / (display.height * Double(part.width)))
  }

  private static func crop(
    _ declared: PixelSize, _ edges: (left: Int, top: Int, right: Int, bottom: Int)
  ) -> PixelRect? {
    let all = [edges.left, edges.top, edges.right, edges.bottom]
    guard declared.hasArea, all.contains(where: { $0 > 0 }),
      all.allSatisfy({ (0...PixelSize.limit).contains($0) })
    else { return nil }
    let rect = PixelRect(
      x: edges.left, y: edges.top, width: declared.width - edges.left - edges.right,
      height: declared.height - edges.top - edges.bottom)
    return rect.size.hasArea ? rect : nil
  }

  /// Returns the part of a stored frame of `size` that is shown. `nil` for all of it: a frame of another size
  /// than the declared one has come in mid-stream, and the container describes only the start.
  package func crop(of size: PixelSize) -> PixelRect? { size == declared ? crop : nil }

  /// Returns the shape of a stored frame.
  ///
  /// - Parameters:
  ///   - size: The size of the frame before the container's cropping.
  ///   - own: The frame's sample aspect ratio in the bitstream. `nil` if it has none.
  ///   - first: The one of the stream's first frame. A frame with another one has come in mid-stream, and the
  ///     container describes only the start.
  package func shape(of size: PixelSize, own: Rational?, first: Rational?) -> FrameShape {
    let hasChanged = own != nil && first != nil && own != first
    let ratio = (hasChanged ? own : sampleAspectRatio ?? own)?.plausibleSampleAspectRatio ?? .one
    return FrameShape(
      stored: crop(of: size)?.size ?? size,
      sampleAspectRatio: ratio.scaled(by: scale.width / scale.height), lineScale: scale.height)
  }
}

extension Rational {
  /// The value as a sample aspect ratio. `nil` unless it is within 1:100 and 100:1: no frame has such pixels,
  /// and the size that is shown would have no limit.
  package var plausibleSampleAspectRatio: Rational? {
    (0.01...100).contains(doubleValue) ? self : nil
  }

  /// The fraction nearest to `value`, 0.0001...10000, whose parts are below 2^16. It has the smallest parts
  /// that are exact within one part in 2^20.
  package init(nearest value: Double) {
    let value = value.isFinite ? min(max(value, 0.0001), 10_000) : 1
    // Continued fractions.
    var (before, last) = ((0, 1), (1, 0))
    var rest = value
    for _ in 0..<24 {
      let whole = Int(clamping: rest.rounded(.down))
      let next = (whole * last.0 + before.0, whole * last.1 + before.1)
      guard max(next.0, next.1) < 1 << 16 else { break }
      (before, last) = (last, next)
      let error = abs(Double(next.0) / Double(next.1) - value)
      guard error > value / Double(1 << 20), rest - Double(whole) > 1e-9 else { break }
      rest = 1 / (rest - Double(whole))
    }
    self.init(last.0, last.1)
  }

  /// Returns the fraction nearest to the value times `scale`.
  fileprivate func scaled(by scale: Double) -> Rational {
    scale == 1 ? self : Rational(nearest: doubleValue * scale)
  }
}
