/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable {
  /// Pixels across.
  public var width: Int
  /// Pixels down.
  public var height: Int

  /// The size `width` by `height`.
  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// Width and height exchanged: the size after a quarter turn.
  public var transposed: PixelSize { PixelSize(height, width) }

  /// Whether the picture counts as landscape; a square does.
  public var isLandscape: Bool { width >= height }
}

extension PixelSize: CustomStringConvertible {
  /// `1280x720`.
  public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels; `x` and `y` are its top left corner, y down.
public struct PixelRect: Sendable, Hashable {
  /// The left edge.
  public var x: Int
  /// The top edge.
  public var y: Int
  /// Pixels across.
  public var width: Int
  /// Pixels down.
  public var height: Int

  /// The rectangle whose top left corner is (`x`, `y`).
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The whole of a picture of `size`.
  public init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

  /// Width and height.
  public var size: PixelSize { PixelSize(width, height) }
}
