/// The 3 x 3 display matrix of a track or a frame: MP4's `tkhd` (ISO/IEC 14496-12, 8.3.2) and
/// FFmpeg's `AV_FRAME_DATA_DISPLAYMATRIX`.
///
/// Row vectors: `(x, y, 1)` times `[a b u; c d v; x y w]`, in file order. `a b c d x y` are 16.16
/// fixed point, `u v w` are 2.30. y points down, so `[0 1; -1 0]` rotates 90 degrees clockwise.
public struct DisplayMatrix: Sendable, Hashable {
  /// 1.0 in the first two columns (16.16).
  public static let one: Int32 = 1 << 16
  /// 1.0 in the last column (2.30).
  static let oneInLastColumn: Int32 = 1 << 30

  /// First row, 16.16: the contribution of x to the displayed x.
  public var a: Int32
  /// First row, 16.16: the contribution of x to the displayed y.
  public var b: Int32
  /// First row, 2.30: perspective, 0 in every real file.
  public var u: Int32
  /// Second row, 16.16: the contribution of y to the displayed x.
  public var c: Int32
  /// Second row, 16.16: the contribution of y to the displayed y.
  public var d: Int32
  /// Second row, 2.30: perspective, 0 in every real file.
  public var v: Int32
  /// Third row, 16.16: translation to the right in pixels.
  public var x: Int32
  /// Third row, 16.16: translation downwards in pixels.
  public var y: Int32
  /// Third row, 2.30: the common divisor, 1.0.
  public var w: Int32

  /// Creates a matrix without perspective.
  public init(a: Int32, b: Int32, c: Int32, d: Int32, x: Int32 = 0, y: Int32 = 0) {
    (self.a, self.b, self.u) = (a, b, 0)
    (self.c, self.d, self.v) = (c, d, 0)
    (self.x, self.y, self.w) = (x, y, Self.oneInLastColumn)
  }

  /// Creates a matrix from its nine values in file order (`a b u c d v x y w`). Returns `nil`
  /// unless there are nine.
  public init?(_ values: [Int32]) {
    guard values.count == 9 else { return nil }
    self.init(
      a: values[0], b: values[1], c: values[3], d: values[4], x: values[6], y: values[7])
    (u, v, w) = (values[2], values[5], values[8])
  }

  /// The nine values in file order: `a b u c d v x y w`.
  public var values: [Int32] { [a, b, u, c, d, v, x, y, w] }

  /// The identity matrix.
  public static let identity = DisplayMatrix(a: one, b: 0, c: 0, d: one)
}

extension DisplayMatrix: CustomStringConvertible {
  /// The nine raw numbers, row by row: `[0 65536 0 | -65536 0 0 | 0 0 1073741824]`.
  public var description: String {
    "[\(a) \(b) \(u) | \(c) \(d) \(v) | \(x) \(y) \(w)]"
  }
}
