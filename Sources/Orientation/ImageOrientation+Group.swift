/// The dihedral group of the square. Every element is written in one way as an optional horizontal
/// flip *followed by* a clockwise turn; all the arithmetic is done on that pair.
extension ImageOrientation {
  /// Whether standing the picture up takes a mirror as well as a turn.
  public var isMirrored: Bool {
    switch self {
    case .up, .down, .right, .left: false
    case .upMirrored, .downMirrored, .leftMirrored, .rightMirrored: true
    }
  }

  /// The clockwise quarter turns (0...3) left to do after the horizontal flip, if there is one.
  ///
  /// The flip comes first. So a transpose (`leftMirrored`) is a flip and 3 quarter turns; peers
  /// that flip after turning (Chromium, Media3) call the same picture 90 degrees.
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

  /// Whether width and height change places: a quarter turn either way, a transpose or a transverse.
  public var swapsAxes: Bool { quarterTurns % 2 == 1 }

  /// The element that flips left-right, if asked, and then turns clockwise.
  ///
  /// - Parameter clockwiseDegrees: any multiple of 90, negative ones too; nil for other angles.
  public init?(flippedHorizontally: Bool, clockwiseDegrees: Int) {
    guard clockwiseDegrees.isMultiple(of: 90) else { return nil }
    self.init(flippedHorizontally: flippedHorizontally, quarterTurns: clockwiseDegrees / 90)
  }

  /// The element that flips left-right, if asked, and then turns clockwise; any number of turns.
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

  /// This, and then `next`: the composition, not commutative.
  public func then(_ next: ImageOrientation) -> ImageOrientation {
    // A turn moved past a later flip turns the other way.
    let turns = (next.isMirrored ? -quarterTurns : quarterTurns) + next.quarterTurns
    return ImageOrientation(
      flippedHorizontally: isMirrored != next.isMirrored, quarterTurns: turns)
  }

  /// What undoes this: `a.then(a.inverse)` is `up`. A mirrored element is its own inverse.
  public var inverse: ImageOrientation {
    isMirrored ? self : ImageOrientation(flippedHorizontally: false, quarterTurns: -quarterTurns)
  }

  /// The size of a picture of `size` once it stands upright.
  public func applied(to size: PixelSize) -> PixelSize { swapsAxes ? size.transposed : size }
}
