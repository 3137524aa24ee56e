/// A point in continuous coordinates: x to the right, y down on a raster. A pixel's centre is at
/// .5.
public struct Point: Sendable, Hashable, Codable {
  /// The distance to the right of the origin.
  public var x: Double
  /// The distance from the origin along y (down on a raster).
  public var y: Double

  /// Creates the point (`x`, `y`).
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A width and a height, or a vector. Either component can be negative.
public struct Size: Sendable, Hashable, Codable {
  /// The extent along x.
  public var width: Double
  /// The extent along y.
  public var height: Double

  /// Creates the size `width` by `height`.
  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// Creates a size from a size in pixels.
  public init(_ size: PixelSize) {
    self.init(width: Double(size.width), height: Double(size.height))
  }
}

/// A rectangle: the corner nearest the origin, and a size.
public struct Rect: Sendable, Hashable, Codable {
  /// The corner with the least x and y.
  public var origin: Point
  /// The extent from the origin corner.
  public var size: Size

  /// Creates the rectangle at `origin` with `size`.
  public init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  /// Creates the rectangle at (`x`, `y`) with `width` by `height`.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  /// Creates a rectangle from the outer edges of a rectangle of pixels.
  public init(_ rect: PixelRect) {
    self.init(
      x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
  }
}
