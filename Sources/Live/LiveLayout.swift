public import UprightOrientation

/// How a canvas of a live session shows the upright frame.
public struct LiveLayout: Sendable, Hashable, Codable {
  /// The size of the canvas, in pixels.
  public let canvas: PixelSize
  /// The part of the upright frame that is shown. Each axis is 0...1, as in a `focus` event: x from left to
  /// right, y from top to bottom.
  public let part: Rect
  /// The part of the canvas that shows it, in the same way. The rest is background.
  public let place: Rect

  /// - Parameter source: The size of the stored frame that was placed.
  init(_ placement: Placement, of source: PixelSize) {
    canvas = placement.canvas
    part = placement.uprightPart(of: source)
    place = Rect(placement.canvasRect).share(of: placement.canvas)
  }
}
