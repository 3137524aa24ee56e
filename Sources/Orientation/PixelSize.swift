/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable, Codable {
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Creates the size `width` by `height`.
  public init(_ width: Int, _ height: Int) {
    self.width = width
    self.height = height
  }

  /// The size with width and height exchanged, as after a quarter turn.
  public var transposed: PixelSize { PixelSize(height, width) }

  /// Whether the size is landscape. A square counts as landscape.
  public var isLandscape: Bool { width >= height }
}

extension PixelSize: CustomStringConvertible {
  /// For example `1280x720`.
  public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels. `x` and `y` are its top left corner; y points down.
public struct PixelRect: Sendable, Hashable {
  /// The left edge.
  public var x: Int
  /// The top edge.
  public var y: Int
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Creates the rectangle whose top left corner is (`x`, `y`).
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Creates the rectangle that covers a whole frame of `size`.
  public init(_ size: PixelSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

  /// The width and height.
  public var size: PixelSize { PixelSize(width, height) }
}
