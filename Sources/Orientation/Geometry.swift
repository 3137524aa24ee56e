/// A point in continuous coordinates: x to the right, y down on a raster. A pixel's centre lies at .5.
public struct Point: Sendable, Hashable {
  /// Distance to the right of the origin.
  public var x: Double
  /// Distance from the origin along y (down on a raster).
  public var y: Double

  /// The point at `x`, `y`.
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A width and a height, or a distance without a place; either may be negative.
public struct Size: Sendable, Hashable {
  /// Extent along x.
  public var width: Double
  /// Extent along y.
  public var height: Double

  /// The size of `width` by `height`.
  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  /// The size of a picture.
  public init(_ size: PixelSize) {
    self.init(width: Double(size.width), height: Double(size.height))
  }
}

/// A rectangle: its corner nearest the origin and its size.
public struct Rect: Sendable, Hashable {
  /// The corner with the least x and y.
  public var origin: Point
  /// The extent from there.
  public var size: Size

  /// The rectangle from `origin` over `size`.
  public init(origin: Point, size: Size) {
    self.origin = origin
    self.size = size
  }

  /// The rectangle from (`x`, `y`) over `width` by `height`.
  public init(x: Double, y: Double, width: Double, height: Double) {
    self.init(origin: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  /// A rectangle of pixels from outer edge to outer edge.
  public init(_ rect: PixelRect) {
    self.init(
      x: Double(rect.x), y: Double(rect.y), width: Double(rect.width), height: Double(rect.height))
  }
}
