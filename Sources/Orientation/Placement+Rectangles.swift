extension Placement {
  /// Returns the display size of a frame: square pixels, upright, both sides rounded down to an
  /// even number and at least 2. This is the size of `--size source`. The width is scaled by the
  /// sample aspect ratio.
  public static func uprightSize(
    source: PixelSize, sampleAspectRatio: Rational = .one, orientation: ImageOrientation
  ) -> PixelSize {
    let shape = FrameShape(stored: source, sampleAspectRatio: sampleAspectRatio)
    return orientation.applied(to: shape.streamSize)
  }

  /// Snaps a crop to the grid. An edge inside the frame moves to the nearest step, and an axis that
  /// is not cropped keeps its full length.
  static func align(_ crop: PixelRect?, in source: PixelSize, grid: PixelSize) -> PixelRect {
    guard let crop else { return PixelRect(source) }
    let across = Axis.aligned(
      from: crop.x, length: crop.width, within: source.width, step: grid.width)
    let down = Axis.aligned(
      from: crop.y, length: crop.height, within: source.height, step: grid.height)
    guard let across, let down else { return PixelRect(source) }
    return PixelRect(x: across.start, y: down.start, width: across.length, height: down.length)
  }

  /// Returns the largest rectangle in the canvas with the frame's aspect ratio.
  static func letterbox(
    _ size: PixelSize, pixel: Rational, orientation: ImageOrientation, anchor: Anchor,
    canvas: PixelSize, grid: PixelSize
  ) -> PixelRect {
    let upright = orientation.applied(to: size)
    let shape = displayShape(size, pixel: pixel, orientation: orientation)
    // Doubles are exact for every size a codec supports and can't overflow for the others.
    let width = Double(canvas.height) * shape.width / shape.height
    let height = Double(canvas.width) * shape.height / shape.width
    let across = Axis.length(
      width, native: upright.width, within: canvas.width, step: grid.width)
    let down = Axis.length(
      height, native: upright.height, within: canvas.height, step: grid.height)
    return PixelRect(
      x: Axis.offset(of: across, within: canvas.width, fraction: anchor.x, step: grid.width),
      y: Axis.offset(of: down, within: canvas.height, fraction: anchor.y, step: grid.height),
      width: across, height: down)
  }

  /// Returns the largest part of `shown` with the canvas's aspect ratio, in stored pixels.
  static func crop(
    _ shown: PixelRect, pixel: Rational, orientation: ImageOrientation, anchor: Anchor,
    focus: Point?, canvas: PixelSize, grid: PixelSize
  ) -> PixelRect {
    // The canvas size and the anchor, converted to the orientation of the stored frame.
    let target = orientation.applied(to: canvas)
    let shape = displayShape(shown.size, pixel: pixel, orientation: .up)
    let (numerator, denominator) = (Double(pixel.numerator), Double(pixel.denominator))
    let width = shape.height * Double(target.width) / (numerator * Double(target.height))
    let height = shape.width * Double(target.height) / (denominator * Double(target.width))
    let across = Axis.length(
      width, native: target.width, within: shown.width, step: grid.width)
    let down = Axis.length(
      height, native: target.height, within: shown.height, step: grid.height)
    var point = (focus ?? Point(x: anchor.x, y: anchor.y))
      .applying(AffineMatrix(orientation.inverse, size: PixelSize(1, 1)))
    if focus != nil {
      point.x = share(before: across, within: shown.width, centre: point.x)
      point.y = share(before: down, within: shown.height, centre: point.y)
    }
    return PixelRect(
      x: shown.x
        + Axis.offset(of: across, within: shown.width, fraction: point.x, step: grid.width),
      y: shown.y
        + Axis.offset(of: down, within: shown.height, fraction: point.y, step: grid.height),
      width: across, height: down)
  }

  /// Returns the share of the spare length that is before a part whose centre is as close to `centre` as
  /// possible.
  private static func share(before part: Int, within whole: Int, centre: Double) -> Double {
    let spare = Double(whole - part)
    guard spare > 0, centre.isFinite else { return 0.5 }
    return min(max(0, (centre * Double(whole) - Double(part) / 2) / spare), 1)
  }

  /// Returns the frame's displayed width and height, both multiplied by the ratio's denominator:
  /// integers.
  private static func displayShape(
    _ size: PixelSize, pixel: Rational, orientation: ImageOrientation
  ) -> Size {
    let width = Double(size.width) * Double(pixel.numerator)
    let height = Double(size.height) * Double(pixel.denominator)
    return orientation.swapsAxes
      ? Size(width: height, height: width) : Size(width: width, height: height)
  }
}

extension Rect {
  /// Returns this rectangle as a part of a whole of `size`: each axis is 0...1. Without area, it is the whole.
  package func share(of size: PixelSize) -> Rect {
    guard size.hasArea else { return Rect(x: 0, y: 0, width: 1, height: 1) }
    let (width, height) = (Double(size.width), Double(size.height))
    return Rect(
      x: origin.x / width, y: origin.y / height, width: self.size.width / width,
      height: self.size.height / height)
  }
}

extension PixelSize {
  /// The largest supported side. Larger values are clamped.
  static let limit = 1 << 31

  /// The size with both sides clamped to 0...2^31.
  var clamped: PixelSize {
    PixelSize(min(max(0, width), Self.limit), min(max(0, height), Self.limit))
  }

  /// Whether the size has at least one pixel.
  package var hasArea: Bool { width > 0 && height > 0 }
}
