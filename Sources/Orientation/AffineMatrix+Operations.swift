extension AffineMatrix {
  /// Returns the transform that applies this transform and then `next`. Not commutative.
  public func concatenating(_ next: AffineMatrix) -> AffineMatrix {
    AffineMatrix(
      a: a * next.a + b * next.c,
      b: a * next.b + b * next.d,
      c: c * next.a + d * next.c,
      d: c * next.b + d * next.d,
      tx: tx * next.a + ty * next.c + next.tx,
      ty: tx * next.b + ty * next.d + next.ty)
  }

  /// Returns the transform that translates by `x` and `y` and then applies this one. Prepends, as
  /// CoreGraphics does.
  public func translatedBy(x: Double, y: Double) -> AffineMatrix {
    AffineMatrix(translationX: x, y: y).concatenating(self)
  }

  /// Returns the transform that scales and then applies this one. Prepends, as CoreGraphics does.
  public func scaledBy(x: Double, y: Double) -> AffineMatrix {
    AffineMatrix(scaleX: x, y: y).concatenating(self)
  }

  /// Returns the transform that rotates by `radians` (clockwise with y down) and then applies this
  /// one. Prepends, as CoreGraphics does.
  public func rotated(by radians: Double) -> AffineMatrix {
    AffineMatrix(rotationAngle: radians).concatenating(self)
  }

  /// `a*d - b*c`: the factor by which areas grow. Negative if the transform mirrors.
  public var determinant: Double { a * d - b * c }

  /// Whether this transform equals the identity exactly.
  public var isIdentity: Bool { self == .identity }

  /// Returns the inverse transform.
  ///
  /// - Throws: `SingularMatrix` if there is no inverse, or none in finite numbers. The result never
  ///   contains a NaN.
  public func inverted() throws(SingularMatrix) -> AffineMatrix {
    let determinant = self.determinant
    guard determinant != 0, determinant.isFinite else { throw SingularMatrix(self) }
    let inverse = AffineMatrix(
      a: d / determinant, b: -b / determinant, c: -c / determinant, d: a / determinant,
      tx: (c * ty - d * tx) / determinant, ty: (b * tx - a * ty) / determinant)
    guard inverse.isFinite else { throw SingularMatrix(self) }
    return inverse
  }

  /// Whether all six numbers are finite.
  public var isFinite: Bool {
    a.isFinite && b.isFinite && c.isFinite && d.isFinite && tx.isFinite && ty.isFinite
  }
}

/// A transform without an inverse: it collapses the plane, or its numbers are not finite.
public struct SingularMatrix: Error, Hashable, CustomStringConvertible {
  /// The transform.
  public let transform: AffineMatrix

  /// Creates the error for `transform`.
  public init(_ transform: AffineMatrix) { self.transform = transform }

  /// The reason, with the numbers.
  public var description: String {
    "the transform \(transform) has no inverse (determinant \(transform.determinant)): "
      + "a scale of 0 or a number that is not finite went into it"
  }
}

extension Point {
  /// Returns the point that `transform` maps this point to.
  public func applying(_ transform: AffineMatrix) -> Point {
    Point(
      x: transform.a * x + transform.c * y + transform.tx,
      y: transform.b * x + transform.d * y + transform.ty)
  }
}

extension Size {
  /// Returns this size transformed as a vector. Translation has no effect, and a side of the result
  /// can be negative, as in CoreGraphics.
  public func applying(_ transform: AffineMatrix) -> Size {
    Size(
      width: transform.a * width + transform.c * height,
      height: transform.b * width + transform.d * height)
  }
}

extension Rect {
  /// Returns the bounding box of this rectangle after `transform`. Its width and height are not
  /// negative.
  public func applying(_ transform: AffineMatrix) -> Rect {
    let far = Point(x: origin.x + size.width, y: origin.y + size.height)
    let first = origin.applying(transform)
    var (low, high) = (first, first)
    func include(_ corner: Point) {
      let place = corner.applying(transform)
      low = Point(x: min(low.x, place.x), y: min(low.y, place.y))
      high = Point(x: max(high.x, place.x), y: max(high.y, place.y))
    }
    include(Point(x: far.x, y: origin.y))
    include(Point(x: origin.x, y: far.y))
    include(far)
    return Rect(origin: low, size: Size(width: high.x - low.x, height: high.y - low.y))
  }
}
