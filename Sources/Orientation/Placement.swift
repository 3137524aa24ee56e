/// The position of a source frame on a canvas: crop, pixel aspect ratio, rotation, scale and
/// translation as *one* transform from stored pixels to canvas pixels.
///
/// The order of operations is crop, rotate, scale (which includes the sample aspect ratio),
/// translate. The canvas has square pixels. Sizes beyond 2^31 are clamped to 2^31. If the source or
/// the canvas has no area, the placement is empty. No input traps.
public struct Placement: Sendable, Hashable {
  /// The orientation that makes the stored frame upright.
  public let orientation: ImageOrientation
  /// The size of the canvas.
  public let canvas: PixelSize
  /// The part of the stored frame that is shown, in stored pixels.
  ///
  /// Along a cropped axis, both edges are multiples of the alignment. Along an axis that is not
  /// cropped, an odd size is kept.
  public let sourceRect: PixelRect
  /// The rectangle inside the canvas that `sourceRect` is drawn to. Its corner is a multiple of the
  /// alignment, and so are its width and height unless they reach the canvas's edge.
  public let canvasRect: PixelRect
  /// The transform from stored pixels to canvas pixels, in continuous coordinates. Maps
  /// `sourceRect` to `canvasRect`. If nothing is scaled, all its numbers are integers.
  public let transform: AffineMatrix

  /// Places a frame of size `source` on `canvas`.
  ///
  /// - Parameters:
  ///   - source: the stored frame's size in pixels.
  ///   - crop: the part of the frame to use, in stored pixels; `nil` for all of it. It is clamped
  ///     to the frame and snapped to the alignment. A crop that leaves nothing is ignored.
  ///   - sampleAspectRatio: the width of a stored pixel over its height; 1:1 if it is invalid.
  ///   - orientation: the orientation that makes the stored frame upright.
  ///   - fit: how a frame with another aspect ratio is fitted.
  ///   - focus: the point of the upright frame, 0...1, that `fill` keeps as close to the middle of
  ///     the canvas as possible; `nil` to keep the part of the anchor.
  ///   - anchor: the part to keep, or the position in spare space, in terms of the upright frame.
  ///   - canvas: the size of the canvas, in square pixels.
  ///   - alignment: the grid for edges, (2, 2) for 4:2:0; a value below 1 counts as 1.
  public init(
    source: PixelSize, crop: PixelRect? = nil, sampleAspectRatio: Rational = .one,
    orientation: ImageOrientation, fit: Fit = .fit, anchor: Anchor = .center,
    focus: Point? = nil, canvas: PixelSize, alignment: PixelSize = PixelSize(2, 2)
  ) {
    self.orientation = orientation
    self.canvas = canvas
    let source = source.clamped
    let area = canvas.clamped
    guard source.hasArea, area.hasArea else {
      sourceRect = PixelRect(PixelSize(0, 0))
      canvasRect = PixelRect(PixelSize(0, 0))
      transform = .identity
      return
    }
    let grid = PixelSize(max(1, alignment.width), max(1, alignment.height))
    let shown = Self.align(crop, in: source, grid: grid)
    let pixel = sampleAspectRatio.asSampleAspectRatio
    switch fit {
    case .stretch:
      sourceRect = shown
      canvasRect = PixelRect(area)
    case .fit, .blur:
      sourceRect = shown
      canvasRect = Self.letterbox(
        shown.size, pixel: pixel, orientation: orientation, anchor: anchor, canvas: area, grid: grid
      )
    case .fill:
      sourceRect = Self.crop(
        shown, pixel: pixel, orientation: orientation, anchor: anchor, focus: focus, canvas: area,
        grid: grid)
      canvasRect = PixelRect(area)
    }
    transform = Self.transform(from: sourceRect, orientation: orientation, to: canvasRect)
  }

  /// The size of `sourceRect` after the rotation, in stored pixels, before any scaling.
  public var uprightSize: PixelSize { orientation.applied(to: sourceRect.size) }

  /// Whether every canvas pixel is one source pixel, that is, nothing is scaled.
  public var isExact: Bool { uprightSize == canvasRect.size }

  /// Returns the part of the upright frame that is shown: each axis is 0...1, x from left to right, y from
  /// top to bottom. If the placement is empty, it is the whole frame.
  ///
  /// - Parameter source: The stored frame's size that was placed.
  package func uprightPart(of source: PixelSize) -> Rect {
    guard !isEmpty else { return Rect(x: 0, y: 0, width: 1, height: 1) }
    return Rect(sourceRect).applying(AffineMatrix(orientation, size: source))
      .share(of: orientation.applied(to: source))
  }

  /// Whether nothing is shown, because the source or the canvas has no area.
  public var isEmpty: Bool { canvasRect.width == 0 }

  /// Whether the frame covers the whole canvas.
  public var coversCanvas: Bool { canvasRect == PixelRect(canvas) }

  /// Returns the affine transform from one rectangle to the other. The sample aspect ratio is part
  /// of the scale: it determined the two rectangles, and the rectangles determine the numbers here,
  /// so the sizes and the transform can't disagree.
  private static func transform(
    from source: PixelRect, orientation: ImageOrientation, to target: PixelRect
  ) -> AffineMatrix {
    let upright = orientation.applied(to: source.size)
    return AffineMatrix(translationX: Double(-source.x), y: Double(-source.y))
      .concatenating(AffineMatrix(orientation, size: source.size))
      .concatenating(
        AffineMatrix(
          scaleX: Double(target.width) / Double(upright.width),
          y: Double(target.height) / Double(upright.height))
      )
      .concatenating(AffineMatrix(translationX: Double(target.x), y: Double(target.y)))
  }
}
