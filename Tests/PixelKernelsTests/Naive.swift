import UprightOrientation

/// The eight orientations by their geometry, one element at a time, implemented independently of the kernels.
enum Naive {
  /// Returns the position to which the element at (`x`, `y`) of a `width` x `height` plane moves.
  static func place(
    _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ orientation: ImageOrientation
  ) -> (x: Int, y: Int) {
    switch orientation {
    case .up: (x, y)
    case .upMirrored: (width - 1 - x, y)
    case .down: (width - 1 - x, height - 1 - y)
    case .downMirrored: (x, height - 1 - y)
    case .leftMirrored: (y, x)
    case .right: (height - 1 - y, x)  // the top row becomes the right column
    case .rightMirrored: (height - 1 - y, width - 1 - x)
    case .left: (y, width - 1 - x)  // the top row becomes the left column
    }
  }

  static func turn(
    _ source: PaddedPlane, by orientation: ImageOrientation, into destination: PaddedPlane
  ) {
    let size = source.elementSize
    for y in 0..<source.height {
      for x in 0..<source.width {
        let to = place(x, y, source.width, source.height, orientation)
        let from = source.base + y * source.stride + x * size
        let target = destination.base + to.y * destination.stride + to.x * size
        for i in 0..<size { target[i] = from[i] }
      }
    }
  }
}

extension ImageOrientation {
  var transposes: Bool { rawValue >= 5 }
}
