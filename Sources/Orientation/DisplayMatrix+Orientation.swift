extension DisplayMatrix {
  /// `a*d - b*c` in units of 2^-32: negative if the matrix mirrors, 0 if it has no inverse.
  ///
  /// It can't overflow: two products of `Int32`s can't both reach 2^62 with opposite signs.
  public var determinant: Int { Int(a) * Int(d) - Int(b) * Int(c) }

  /// Whether the matrix mirrors. FFmpeg's `av_display_rotation_get` doesn't report this: it returns
  /// an angle for a flip too.
  public var isMirrored: Bool { determinant < 0 }

  /// Whether the matrix collapses the frame to a line or a point (in some files it is all zeros).
  /// Readers treat such a matrix as absent.
  public var isSingular: Bool { determinant == 0 }

  /// Whether the matrix is affine: no perspective, and a divisor that is not negative. (Some muxers
  /// write a divisor of 0; it is read as 1.)
  var isAffine: Bool { u == 0 && v == 0 && w >= 0 }

  /// The flip and rotation of the matrix, without its scale and translation, or `nil` if it is
  /// singular or has perspective. For a sheared matrix, the angle is that of the transformed x
  /// axis.
  public var turn: DisplayTurn? {
    guard isAffine, !isSingular else { return nil }
    // Undo the flip. It is applied first, so it negates the first row. Int, because -Int32.min
    // overflows.
    let (cosine, sine) = isMirrored ? (-Int(a), -Int(b)) : (Int(a), Int(b))
    if b == 0 { return DisplayTurn(isMirrored: isMirrored, clockwiseDegrees: cosine > 0 ? 0 : 180) }
    if a == 0 { return DisplayTurn(isMirrored: isMirrored, clockwiseDegrees: sine > 0 ? 90 : 270) }
    return DisplayTurn(
      isMirrored: isMirrored,
      clockwiseDegrees: Trigonometry.degrees(y: Double(sine), x: Double(cosine)))
  }

  /// The clockwise rotation after the horizontal flip, in degrees, 0 ..< 360, or `nil` if the
  /// matrix is singular or has perspective. FFmpeg's `av_display_rotation_get` counts
  /// counter-clockwise.
  public var clockwiseDegrees: Double? { turn?.clockwiseDegrees }

  /// The orientation that matches the matrix exactly, with any positive scale along each axis and
  /// any translation. `nil` if the matrix rotates by another angle, shears, has perspective or is
  /// singular.
  public var orientation: ImageOrientation? {
    guard (b == 0 && c == 0) || (a == 0 && d == 0) else { return nil }
    return turn?.orientation
  }

  /// The sample aspect ratio (width over height) that the matrix's scale gives a square stored
  /// pixel, along the axes of the *stored* frame; 1:1 if the matrix is singular or scales both axes
  /// alike.
  ///
  /// (FFmpeg computes a stream's SAR from the columns, that is along the axes of the rotated
  /// frame.)
  public var sampleAspectRatio: Rational {
    guard !isSingular else { return .one }
    if b == 0 && c == 0 { return Rational(abs(Int(a)), abs(Int(d))) }
    if a == 0 && d == 0 { return Rational(abs(Int(b)), abs(Int(c))) }
    let across = Trigonometry.length(Double(a), Double(b))
    let down = Trigonometry.length(Double(c), Double(d))
    // The file has 16 bits of fraction. A difference below one part in 256 is rounding.
    guard abs(across / down - 1) > 1.0 / 256 else { return .one }
    return Rational(Int(clamping: across), Int(clamping: down))
  }

  /// Creates the matrix of `orientation` without translation, as most phones write it.
  public init(_ orientation: ImageOrientation) {
    let affine = AffineMatrix(orientation, size: PixelSize(0, 0))
    self.init(
      a: Self.unit(affine.a), b: Self.unit(affine.b), c: Self.unit(affine.c),
      d: Self.unit(affine.d))
  }

  /// Creates the matrix of `orientation` with the translation that keeps a stored frame of `size`
  /// in the positive quadrant, as QuickTime writes it. Returns `nil` if 16.16 can't represent the
  /// translation (over 32767 pixels, or negative).
  public init?(_ orientation: ImageOrientation, size: PixelSize) {
    let range = 0...Int(Int16.max)
    guard range.contains(size.width), range.contains(size.height) else { return nil }
    self.init(orientation)
    let affine = AffineMatrix(orientation, size: size)
    x = Int32(affine.tx) * Self.one
    y = Int32(affine.ty) * Self.one
  }

  /// Returns -1, 0 or 1 in 16.16.
  private static func unit(_ value: Double) -> Int32 {
    value > 0 ? one : value < 0 ? -one : 0
  }
}
