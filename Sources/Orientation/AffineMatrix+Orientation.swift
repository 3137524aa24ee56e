extension AffineMatrix {
  /// Creates the transform of the view that shows `interface` on a screen whose native orientation
  /// is portrait. `unknown` is laid out as portrait.
  public init(_ interface: InterfaceOrientation) {
    switch interface {
    case .unknown, .portrait: self.init(quarterTurnsClockwise: 0)
    case .landscapeRight: self.init(quarterTurnsClockwise: 1)
    case .portraitUpsideDown: self.init(quarterTurnsClockwise: 2)
    case .landscapeLeft: self.init(quarterTurnsClockwise: 3)
    }
  }

  /// Creates the transform from the coordinates of a stored image of `size` to those of the upright
  /// image.
  ///
  /// Coordinates are continuous (a pixel's centre is at .5). Both images are in the positive
  /// quadrant with a corner at the origin. All six numbers are integers.
  public init(_ orientation: ImageOrientation, size: PixelSize) {
    let flip = AffineMatrix(scaleX: orientation.isMirrored ? -1 : 1, y: 1)
    let turned = flip.concatenating(
      AffineMatrix(quarterTurnsClockwise: orientation.quarterTurns))
    let corner = Rect(PixelRect(size)).applying(turned).origin
    self = turned.concatenating(AffineMatrix(translationX: -corner.x, y: -corner.y))
  }
}
