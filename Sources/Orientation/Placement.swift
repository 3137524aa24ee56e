/// Where a source picture lands on a canvas: crop, pixel shape, turn, scale and place as *one*
/// transform from stored pixels to canvas pixels.
///
/// The order of operations is crop, turn, scale (the sample aspect ratio is in the scale), place. The
/// canvas has square pixels. Sizes beyond 2^31 count as 2^31; where source or canvas has no area the
/// placement is empty: nothing traps, whatever a file claims.
public struct Placement: Sendable, Hashable {
  /// What stands the stored picture upright.
  public let orientation: ImageOrientation
  /// The picture that is drawn on.
  public let canvas: PixelSize
  /// The part of the stored picture that is shown, in stored pixels.
  ///
  /// Along an axis that is cropped, both edges are multiples of the alignment; along one that is not,
  /// an odd size stays whole.
  public let sourceRect: PixelRect
  /// Where it lands, inside the canvas. Its corner is a multiple of the alignment, and its width and
  /// height are too unless they reach the canvas's edge.
  public let canvasRect: PixelRect
  /// From stored pixels to canvas pixels, continuous coordinates: takes `sourceRect` onto
  /// `canvasRect`. Where nothing is scaled all its numbers are whole.
  public let transform: AffineMatrix

  /// Places `source` on `canvas`.
  ///
  /// - Parameters:
  ///   - source: the stored picture's size in pixels.
  ///   - crop: the part of it to look at, in stored pixels, nil for all; brought to the alignment
  ///     and into the picture. One that leaves nothing is ignored.
  ///   - sampleAspectRatio: the width of a stored pixel over its height; 1:1 where it is nonsense.
  ///   - orientation: what stands the stored picture upright.
  ///   - fit: how a picture of another shape goes in.
  ///   - anchor: which part stays, or where it stands, on the upright picture.
  ///   - canvas: the size to draw on, square pixels.
  ///   - alignment: the grid of the edges, (2, 2) for 4:2:0; anything below 1 counts as 1.
  public init(
    source: PixelSize, crop: PixelRect? = nil, sampleAspectRatio: Rational = .one,
    orientation: ImageOrientation, fit: Fit = .fit, anchor: Anchor = .center, canvas: PixelSize,
    alignment: PixelSize = PixelSize(2, 2)
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
        shown, pixel: pixel, orientation: orientation, anchor: anchor, canvas: area, grid: grid)
      canvasRect = PixelRect(area)
    }
    transform = Self.transform(from: sourceRect, orientation: orientation, to: canvasRect)
  }

  /// The size of `sourceRect` after the turn, in stored pixels, before any scaling.
  public var uprightSize: PixelSize { orientation.applied(to: sourceRect.size) }

  /// Whether every canvas pixel is one source pixel: nothing is scaled.
  public var isExact: Bool { uprightSize == canvasRect.size }

  /// Whether nothing is shown: source or canvas has no area.
  public var isEmpty: Bool { canvasRect.width == 0 }

  /// Whether the picture leaves none of the canvas over.
  public var coversCanvas: Bool { canvasRect == PixelRect(canvas) }

  /// The affine core's way from one rectangle onto the other. The sample aspect ratio is part of
  /// the scale: it decided the two rectangles, and here they decide the numbers, so that sizes and
  /// transform cannot disagree.
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
