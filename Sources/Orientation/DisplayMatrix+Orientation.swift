extension DisplayMatrix {
  /// `a*d - b*c` in units of 2^-32: negative where the matrix mirrors, 0 where it has no inverse.
  ///
  /// It cannot overflow: two products of `Int32`s cannot both reach 2^62 with opposite signs.
  public var determinant: Int { Int(a) * Int(d) - Int(b) * Int(c) }

  /// Whether the matrix mirrors. FFmpeg's angle getter cannot say so: a flip reads as a turn.
  public var isMirrored: Bool { determinant < 0 }

  /// Whether the matrix squashes the picture to a line or a point (all zero in some files): it says
  /// nothing and readers treat it as absent.
  public var isSingular: Bool { determinant == 0 }

  /// Whether nothing but the plane is used: no perspective, and a divisor that is not negative.
  /// (A divisor of 0 is written by careless muxers and read as 1.)
  public var isAffine: Bool { u == 0 && v == 0 && w >= 0 }

  /// The flip and the turn in the matrix, whatever its scale and translation; nil where it is
  /// singular or has perspective. A shear is read by where it takes the picture's x axis.
  public var turn: DisplayTurn? {
    guard isAffine, !isSingular else { return nil }
    // Undo the flip, which comes first and so negates the first row. Int, for -Int32.min.
    let (cosine, sine) = isMirrored ? (-Int(a), -Int(b)) : (Int(a), Int(b))
    if b == 0 { return DisplayTurn(isMirrored: isMirrored, clockwiseDegrees: cosine > 0 ? 0 : 180) }
    if a == 0 { return DisplayTurn(isMirrored: isMirrored, clockwiseDegrees: sine > 0 ? 90 : 270) }
    return DisplayTurn(
      isMirrored: isMirrored,
      clockwiseDegrees: Trigonometry.degrees(y: Double(sine), x: Double(cosine)))
  }

  /// The clockwise turn left after the horizontal flip, in degrees, 0 ..< 360; nil where the matrix
  /// is singular or has perspective. FFmpeg's `av_display_rotation_get` counts the other way.
  public var clockwiseDegrees: Double? { turn?.clockwiseDegrees }

  /// The orientation the matrix is exactly, with any positive scale along each axis and any
  /// translation; nil where it turns by another angle, shears, has perspective or is singular.
  public var orientation: ImageOrientation? {
    guard (b == 0 && c == 0) || (a == 0 && d == 0) else { return nil }
    return turn?.orientation
  }

  /// The width of a stored pixel over its height that the matrix's scale makes of a square one, in
  /// the *stored* picture's axes; 1:1 where the matrix is singular or scales both alike.
  ///
  /// (FFmpeg sets a stream's SAR from the columns, that is along the axes of the turned picture.)
  public var sampleAspectRatio: Rational {
    guard !isSingular else { return .one }
    if b == 0 && c == 0 { return Rational(abs(Int(a)), abs(Int(d))) }
    if a == 0 && d == 0 { return Rational(abs(Int(b)), abs(Int(c))) }
    let across = Trigonometry.length(Double(a), Double(b))
    let down = Trigonometry.length(Double(c), Double(d))
    // 16 bits of fraction are what the file had; below one part in 256 it is rounding.
    guard abs(across / down - 1) > 1.0 / 256 else { return .one }
    return Rational(Int(clamping: across), Int(clamping: down))
  }

  /// The matrix of `orientation` without translation, as most phones write it.
  public init(_ orientation: ImageOrientation) {
    let affine = AffineMatrix(orientation, size: PixelSize(0, 0))
    self.init(
      a: Self.unit(affine.a), b: Self.unit(affine.b), c: Self.unit(affine.c),
      d: Self.unit(affine.d))
  }

  /// The matrix of `orientation` with the translation that keeps a stored picture of `size` in the
  /// positive quadrant, as QuickTime writes it; nil where 16.16 cannot hold it (over 32767 pixels,
  /// or negative).
  public init?(_ orientation: ImageOrientation, size: PixelSize) {
    let range = 0...Int(Int16.max)
    guard range.contains(size.width), range.contains(size.height) else { return nil }
    self.init(orientation)
    let affine = AffineMatrix(orientation, size: size)
    x = Int32(affine.tx) * Self.one
    y = Int32(affine.ty) * Self.one
  }

  /// -1, 0 or 1 in 16.16.
  private static func unit(_ value: Double) -> Int32 {
    value > 0 ? one : value < 0 ? -one : 0
  }
}
