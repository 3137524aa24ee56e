import UprightOrientation

/// An image small enough to move pixel by pixel. Each pixel has a unique number.
struct PixelGrid: Equatable {
  var size: PixelSize
  var pixels: [Int]

  init(size: PixelSize, pixels: [Int]) {
    self.size = size
    self.pixels = pixels
  }

  init(numbered size: PixelSize) {
    self.init(size: size, pixels: Array(0..<size.width * size.height))
  }

  subscript(x: Int, y: Int) -> Int { pixels[y * size.width + x] }

  /// Returns the upright image. Computed in the opposite direction from the library: for every
  /// upright pixel, the stored position.
  func uprighted(_ orientation: ImageOrientation) -> PixelGrid {
    let (w, h) = (size.width, size.height)
    let isTurned = [.leftMirrored, .right, .rightMirrored, .left].contains(orientation)
    let upright = isTurned ? PixelSize(h, w) : size
    var moved: [Int] = []
    for y in 0..<upright.height {
      for x in 0..<upright.width {
        switch orientation {
        case .up: moved.append(self[x, y])
        case .upMirrored: moved.append(self[w - 1 - x, y])
        case .down: moved.append(self[w - 1 - x, h - 1 - y])
        case .downMirrored: moved.append(self[x, h - 1 - y])
        case .leftMirrored: moved.append(self[y, x])
        case .right: moved.append(self[y, h - 1 - x])
        case .rightMirrored: moved.append(self[w - 1 - y, h - 1 - x])
        case .left: moved.append(self[w - 1 - y, x])
        }
      }
    }
    return PixelGrid(size: upright, pixels: moved)
  }

  /// Moves every pixel's centre inside `area` by `transform` to a canvas of `canvas`. Pixels that
  /// nothing maps to are -1. Returns `nil` if two pixels map to the same place or one outside the
  /// canvas.
  func moved(by transform: AffineMatrix, area: PixelRect, canvas: PixelSize) -> PixelGrid? {
    var result = [Int](repeating: -1, count: canvas.width * canvas.height)
    for y in area.y..<area.y + area.height {
      for x in area.x..<area.x + area.width {
        let point = Point(x: Double(x) + 0.5, y: Double(y) + 0.5).applying(transform)
        let column = Int(point.x.rounded(.down))
        let row = Int(point.y.rounded(.down))
        guard (0..<canvas.width).contains(column), (0..<canvas.height).contains(row) else {
          return nil
        }
        guard result[row * canvas.width + column] == -1 else { return nil }
        result[row * canvas.width + column] = self[x, y]
      }
    }
    return PixelGrid(size: canvas, pixels: result)
  }
}
