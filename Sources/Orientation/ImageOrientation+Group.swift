/// The dihedral group of the square. Every element has one form, an optional horizontal flip
/// *followed by* a clockwise rotation, and all arithmetic uses that pair.
extension ImageOrientation {
  /// Whether making the image upright takes a mirroring as well as a rotation.
  public var isMirrored: Bool {
    switch self {
    case .up, .down, .right, .left: false
    case .upMirrored, .downMirrored, .leftMirrored, .rightMirrored: true
    }
  }

  /// The clockwise quarter turns (0...3) to apply after the horizontal flip, if there is one.
  ///
  /// The flip comes first, so a transpose (`leftMirrored`) is a flip and 3 quarter turns.
  /// Implementations that flip after the rotation (Chromium, Media3) report 90 degrees for the same
  /// image.
  public var quarterTurns: Int {
    switch self {
    case .up, .upMirrored: 0
    case .right, .rightMirrored: 1
    case .down, .downMirrored: 2
    case .left, .leftMirrored: 3
    }
  }

  /// `quarterTurns` in degrees: 0, 90, 180 or 270.
  public var clockwiseDegrees: Int { quarterTurns * 90 }

  /// Whether width and height are exchanged: a quarter turn either way, a transpose or a
  /// transverse.
  public var swapsAxes: Bool { quarterTurns % 2 == 1 }

  /// Creates the element that flips left-right if requested, and then rotates clockwise.
  ///
  /// - Parameters:
  ///   - flippedHorizontally: Whether the frame is flipped left-right before the rotation.
  ///   - clockwiseDegrees: Any multiple of 90, including negative ones. The result is `nil` for
  ///     other angles.
  public init?(flippedHorizontally: Bool, clockwiseDegrees: Int) {
    guard clockwiseDegrees.isMultiple(of: 90) else { return nil }
    self.init(flippedHorizontally: flippedHorizontally, quarterTurns: clockwiseDegrees / 90)
  }

  /// Creates the element that flips left-right if requested, and then rotates clockwise by any
  /// number of quarter turns.
  public init(flippedHorizontally: Bool, quarterTurns: Int) {
    switch (flippedHorizontally, quarterTurns & 3) {
    case (false, 0): self = .up
    case (false, 1): self = .right
    case (false, 2): self = .down
    case (false, _): self = .left
    case (true, 0): self = .upMirrored
    case (true, 1): self = .rightMirrored
    case (true, 2): self = .downMirrored
    case (true, _): self = .leftMirrored
    }
  }

  /// Returns the composition of this and then `next`. Not commutative.
  public func then(_ next: ImageOrientation) -> ImageOrientation {
    // A rotation moved past a later flip changes direction.
    let turns = (next.isMirrored ? -quarterTurns : quarterTurns) + next.quarterTurns
    return ImageOrientation(
      flippedHorizontally: isMirrored != next.isMirrored, quarterTurns: turns)
  }

  /// The inverse: `a.then(a.inverse)` is `up`. A mirrored element is its own inverse.
  public var inverse: ImageOrientation {
    isMirrored ? self : ImageOrientation(flippedHorizontally: false, quarterTurns: -quarterTurns)
  }

  /// Returns the upright size of an image of `size`.
  public func applied(to size: PixelSize) -> PixelSize { swapsAxes ? size.transposed : size }
}
