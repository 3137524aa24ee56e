/// The position of a whole frame on a canvas at any angle. A `Placement` is the same for quarter
/// turns.
///
/// The frame is oriented by `orientation`, scaled to `size`, rotated by the remaining angle, and
/// moved so that its centre is at `centre`. What extends past the canvas is cut off.
public struct Pose: Sendable, Hashable {
  /// The nearest of the eight orientations. `degrees` is what remains after it.
  public let orientation: ImageOrientation
  /// The frame's width and height in canvas pixels after `orientation`, before the rotation by
  /// `degrees`.
  public let size: Size
  /// The clockwise rotation about the frame's centre, -45...45.
  public let degrees: Double
  /// The frame's centre on the canvas.
  public let centre: Point

  /// Creates the pose of a frame that is oriented by `orientation`, then has `size`, and is rotated
  /// clockwise by `degrees` more. Any angle is valid; one that is not finite counts as 0.
  public init(orientation: ImageOrientation, size: Size, degrees: Double, centre: Point) {
    let degrees = degrees.isFinite ? degrees : 0
    let quarters = (degrees / 90).rounded()
    let turns = Int(quarters.truncatingRemainder(dividingBy: 4))
    self.orientation = orientation.then(
      ImageOrientation(flippedHorizontally: false, quarterTurns: turns))
    self.size = turns % 2 == 0 ? size : size.transposed
    self.degrees = degrees - quarters * 90
    self.centre = centre
  }

  /// Creates the pose that `placement` gives a whole stored frame of `source`, rotated clockwise by
  /// `degrees` more about its centre. Its size is kept, and its corners can be cut off.
  public init(_ placement: Placement, of source: PixelSize, degrees: Double = 0) {
    let upright = placement.orientation.applied(to: source)
    let scale = placement.scale
    self.init(
      orientation: placement.orientation,
      size: Size(
        width: Double(upright.width) * scale.width, height: Double(upright.height) * scale.height),
      degrees: degrees,
      centre: Point(x: Double(source.width) / 2, y: Double(source.height) / 2)
        .applying(placement.transform))
  }

  /// Creates the pose at one moment of a rotation from `before` to `after`, two layouts of one
  /// stored frame of `source` on one canvas: at `fraction` 0 it is `before`, at 1 `after`. In
  /// between, size, position and angle are interpolated together, as UIKit animates bounds,
  /// position and transform.
  ///
  /// - Parameters:
  ///   - before: The layout before the rotation.
  ///   - after: The layout after it.
  ///   - source: The size of the stored frame.
  ///   - clockwiseDegrees: The rotation from `before`'s orientation to `after`'s, a multiple of 90.
  ///   - fraction: How much of the rotation is done, 0...1.
  ///   - level: An additional clockwise rotation in degrees, at both ends.
  public init(
    from before: Placement, to after: Placement, of source: PixelSize, clockwiseDegrees: Int,
    fraction: Double, level: Double = 0
  ) {
    let start = Pose(before, of: source)
    let end = Pose(after, of: source)
    let startSize = (clockwiseDegrees / 90) % 2 == 0 ? start.size : start.size.transposed
    func between(_ a: Double, _ b: Double) -> Double { a + (b - a) * fraction }
    self.init(
      orientation: after.orientation,
      size: Size(
        width: between(startSize.width, end.size.width),
        height: between(startSize.height, end.size.height)),
      degrees: level - Double(clockwiseDegrees) * (1 - fraction),
      centre: Point(
        x: between(start.centre.x, end.centre.x), y: between(start.centre.y, end.centre.y)))
  }

  /// Returns the pose with the frame enlarged about its centre until it covers `canvas`; itself if it does.
  public func covering(_ canvas: PixelSize) -> Pose {
    guard size.width > 0, size.height > 0 else { return self }
    let back = AffineMatrix(rotationAngle: -degrees * .pi / 180)
    let (width, height) = (Double(canvas.width), Double(canvas.height))
    var factor = 1.0
    for corner in [(0, 0), (width, 0), (0, height), (width, height)] {
      let reach = Point(x: corner.0 - centre.x, y: corner.1 - centre.y).applying(back)
      factor = max(factor, 2 * abs(reach.x) / size.width, 2 * abs(reach.y) / size.height)
    }
    return Pose(
      orientation: orientation,
      size: Size(width: size.width * factor, height: size.height * factor), degrees: degrees,
      centre: centre)
  }

  /// Returns the transform from the stored frame of `source` to the canvas, in continuous
  /// coordinates.
  public func transform(of source: PixelSize) -> AffineMatrix {
    let upright = orientation.applied(to: source)
    return AffineMatrix(orientation, size: source)
      .concatenating(
        AffineMatrix(
          scaleX: size.width / Double(max(1, upright.width)),
          y: size.height / Double(max(1, upright.height)))
      )
      .concatenating(turn)
  }

  /// The transform from the oriented and scaled frame, with its corner at the origin, to the
  /// canvas.
  public var turn: AffineMatrix {
    AffineMatrix(translationX: -size.width / 2, y: -size.height / 2)
      .concatenating(AffineMatrix(rotationAngle: degrees * .pi / 180))
      .concatenating(AffineMatrix(translationX: centre.x, y: centre.y))
  }

  /// Returns the part of the stored frame of `source` that is visible on `canvas`, with a margin of
  /// a few pixels on each side and edges on multiples of `grid`, or `nil` if none of it is visible.
  public func visiblePart(
    of source: PixelSize, on canvas: PixelSize, grid: PixelSize
  ) -> PixelRect? {
    let source = source.clamped
    guard let back = try? transform(of: source).inverted() else { return nil }
    let seen = Rect(PixelRect(canvas)).applying(back)
    func range(_ from: Double, _ length: Double, _ whole: Int, _ step: Int) -> Range<Int>? {
      let spare = Double(4 * step)
      let low = max(0, min(Double(whole), from - spare))
      let high = max(0, min(Double(whole), from + length + spare))
      let start = Int(low) / step * step
      let end = min(whole, (Int(clamping: min(high.rounded(.up), 1e9)) + step - 1) / step * step)
      return start < end ? start..<end : nil
    }
    guard
      let x = range(seen.origin.x, seen.size.width, source.width, max(1, grid.width)),
      let y = range(seen.origin.y, seen.size.height, source.height, max(1, grid.height))
    else { return nil }
    return PixelRect(x: x.lowerBound, y: y.lowerBound, width: x.count, height: y.count)
  }
}

extension Size {
  /// The size with width and height exchanged.
  var transposed: Size { Size(width: height, height: width) }
}

extension Placement {
  /// Canvas pixels per stored pixel along the canvas's axes; 1 if nothing is shown.
  var scale: Size {
    guard !isEmpty else { return Size(width: 1, height: 1) }
    return Size(
      width: Double(canvasRect.width) / Double(uprightSize.width),
      height: Double(canvasRect.height) / Double(uprightSize.height))
  }

  /// The width of a stored pixel over its height as drawn, within the rounding of the rectangles.
  package var pixelShape: Rational {
    let shape = Rational(
      canvasRect.width * uprightSize.height, canvasRect.height * uprightSize.width)
    return orientation.swapsAxes ? shape.inverted : shape
  }
}
