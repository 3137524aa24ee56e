extension AffineMatrix {
  /// The transform of the view that shows an interface in this orientation on a screen whose own
  /// orientation is portrait; `unknown` is laid out as portrait.
  public init(_ interface: InterfaceOrientation) {
    switch interface {
    case .unknown, .portrait: self.init(quarterTurnsClockwise: 0)
    case .landscapeRight: self.init(quarterTurnsClockwise: 1)
    case .portraitUpsideDown: self.init(quarterTurnsClockwise: 2)
    case .landscapeLeft: self.init(quarterTurnsClockwise: 3)
    }
  }

  /// From the coordinates of a stored picture of `size` to those of the picture upright.
  ///
  /// Coordinates are continuous (a pixel's centre lies at .5) and both pictures lie in the positive
  /// quadrant with a corner at the origin. All numbers are whole.
  public init(_ orientation: ImageOrientation, size: PixelSize) {
    let flip = AffineMatrix(scaleX: orientation.isMirrored ? -1 : 1, y: 1)
    let turned = flip.concatenating(
      AffineMatrix(quarterTurnsClockwise: orientation.quarterTurns))
    let corner = Rect(PixelRect(size)).applying(turned).origin
    self = turned.concatenating(AffineMatrix(translationX: -corner.x, y: -corner.y))
  }
}
