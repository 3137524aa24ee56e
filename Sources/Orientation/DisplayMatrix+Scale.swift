extension DisplayMatrix {
  /// Creates the matrix of `orientation` with the scale of `old`, and with the translation that moves the shown
  /// rectangle to 0,0.
  ///
  /// - Parameter size: The width and height of the track before the matrix, in 16.16 (`tkhd`).
  package init(
    _ orientation: ImageOrientation, scaledAs old: DisplayMatrix,
    size: (width: UInt32, height: UInt32)
  ) {
    let (across, down) = old.axisScales
    self.init(orientation)
    // Each is -1, 0 or 1 times a scale below 2^21.
    a = Int32(clamping: Int(a.signum()) * across)
    b = Int32(clamping: Int(b.signum()) * across)
    c = Int32(clamping: Int(c.signum()) * down)
    d = Int32(clamping: Int(d.signum()) * down)
    // The corners of the shown rectangle. The width and the height have 32 bits.
    func extent(_ width: Int32, _ height: Int32) -> Int32 {
      let one = (Int(size.width) * Int(width)) >> 16
      let other = (Int(size.height) * Int(height)) >> 16
      return Int32(exactly: -min(0, one) - min(0, other)) ?? 0
    }
    (x, y) = (extent(a, c), extent(b, d))
  }

  /// The scale along the axes of the *stored* frame: the lengths of the rows. 1 along both if the matrix is
  /// singular, or if a scale isn't within 1/32...32.
  package var scale: Size {
    let (one, scales) = (Int(Self.one), axisScales)
    // The file has 16 bits of fraction. A difference below one part in 256 is rounding.
    func value(_ scale: Int) -> Double {
      abs(scale - one) > one >> 8 ? Double(scale) / Double(one) : 1
    }
    return Size(width: value(scales.0), height: value(scales.1))
  }

  /// The same in 16.16. Exact for a multiple of 90 degrees.
  private var axisScales: (Int, Int) {
    let one = Int(Self.one)
    guard !isSingular, isAffine else { return (one, one) }
    func length(_ x: Int32, _ y: Int32) -> Int {
      if x == 0 || y == 0 { return abs(Int(x) + Int(y)) }
      // Rounding of an angle that is no multiple of 90 degrees is no scale.
      let length = Int(clamping: Trigonometry.length(Double(x), Double(y)))
      return abs(length - one) < one >> 8 ? one : length
    }
    let scales = (length(a, b), length(c, d))
    let plausible = one >> 5...one << 5
    return plausible.contains(scales.0) && plausible.contains(scales.1) ? scales : (one, one)
  }
}
