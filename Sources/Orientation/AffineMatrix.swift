/// An affine transform of the plane, like CoreGraphics' `CGAffineTransform`.
///
/// Row vectors times `[a b 0; c d 0; tx ty 1]`: `x' = a*x + c*y + tx`, `y' = b*x + d*y + ty`. With
/// y down, a positive angle rotates clockwise. Foundation's type of the same name has the same
/// layout, but on Linux its mutating methods append where these prepend.
public struct AffineMatrix: Sendable, Hashable, Codable {
  /// The contribution of x to x'.
  public var a: Double
  /// The contribution of x to y'.
  public var b: Double
  /// The contribution of y to x'.
  public var c: Double
  /// The contribution of y to y'.
  public var d: Double
  /// Translation along x.
  public var tx: Double
  /// Translation along y.
  public var ty: Double

  /// Creates a transform from its six numbers, in CoreGraphics' order.
  public init(a: Double, b: Double, c: Double, d: Double, tx: Double, ty: Double) {
    (self.a, self.b, self.c, self.d, self.tx, self.ty) = (a, b, c, d, tx, ty)
  }

  /// The identity transform.
  public static let identity = AffineMatrix(a: 1, b: 0, c: 0, d: 1, tx: 0, ty: 0)

  /// Creates a translation by `x` and `y`.
  public init(translationX x: Double, y: Double) {
    self.init(a: 1, b: 0, c: 0, d: 1, tx: x, ty: y)
  }

  /// Creates a scale about the origin.
  public init(scaleX x: Double, y: Double) {
    self.init(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
  }

  /// Creates a rotation about the origin, clockwise with y down. An angle that is a multiple of a
  /// quarter turn, to the precision of `Double`, gives exact numbers. The angle must be finite.
  public init(rotationAngle radians: Double) {
    let (sine, cosine) = Trigonometry.sineAndCosine(radians: radians)
    self.init(a: cosine, b: sine, c: -sine, d: cosine, tx: 0, ty: 0)
  }

  /// Creates an exact rotation about the origin by whole quarter turns, clockwise with y down.
  public init(quarterTurnsClockwise turns: Int) {
    let (sine, cosine) = Trigonometry.exact(quarterTurns: turns)
    self.init(a: cosine, b: sine, c: 0 - sine, d: cosine, tx: 0, ty: 0)
  }
}

extension AffineMatrix: CustomStringConvertible {
  /// The six numbers in UIKit's format, integers without a fraction: `[0, -1, 1, 0, 0, 0]`.
  public var description: String {
    let numbers = [a, b, c, d, tx, ty].map { number in
      let text = "\(number + 0)"  // adding 0 turns -0 into 0
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
    return "[\(numbers.joined(separator: ", "))]"
  }
}
