import UprightOrientation
import UprightKernels
import UprightTestSupport

/// Bilinear interpolation in double precision, one element at a time.
enum WarpReference {
  /// The expected content at the centre of the destination's element (`x`, `y`).
  enum Expected {
    /// The unchanged destination.
    case background
    /// One value per component.
    case values([Double])
    /// The centre is so near the source's edge that either result is correct.
    case either([Double])
  }

  static func value(
    _ x: Int, _ y: Int, of source: PaddedPlane, by back: AffineMatrix, components: Int
  ) -> Expected {
    let place = Point(x: Double(x) + 0.5, y: Double(y) + 0.5).applying(back)
    let (width, height) = (Double(source.width), Double(source.height))
    let inside = min(place.x, width - place.x, place.y, height - place.y)
    guard inside > -1e-4 else { return .background }

    func neighbours(_ place: Double, _ count: Int) -> (Int, Int, Double) {
      let s = min(max(place - 0.5, 0), Double(count - 1))
      let first = Int(s.rounded(.down))
      return (first, min(first + 1, count - 1), s - Double(first))
    }
    let (left, right, across) = neighbours(place.x, source.width)
    let (top, bottom, down) = neighbours(place.y, source.height)
    let size = source.elementSize / components
    let values = (0..<components).map { i in
      func at(_ x: Int, _ y: Int) -> Double {
        Double(source.component(x * components + i, y, size: size))
      }
      let upper = at(left, top) * (1 - across) + at(right, top) * across
      let lower = at(left, bottom) * (1 - across) + at(right, bottom) * across
      return upper * (1 - down) + lower * down
    }
    return inside < 1e-4 ? .either(values) : .values(values)
  }
}

extension PaddedPlane {
  /// Returns the component at `index` of row `y`, of 1 or 2 bytes.
  func component(_ index: Int, _ y: Int, size: Int) -> Int {
    let row = UnsafeRawPointer(base + y * stride)
    return size == 1
      ? Int(row.load(fromByteOffset: index, as: UInt8.self))
      : Int(row.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
  }

  /// Sets every component to a random value of at most `bits` bits.
  func fill(bits: Int, size: Int, _ random: inout SeededGenerator) {
    for y in 0..<height {
      let row = UnsafeMutableRawPointer(base + y * stride)
      for i in 0..<width * elementSize / size {
        // Half of the values are extremes, which leave the least headroom.
        let most = (1 << bits) - 1
        let value = random.below(2) == 0 ? random.below(most + 1) : random.below(2) * most
        if size == 1 {
          row.storeBytes(of: UInt8(value), toByteOffset: i, as: UInt8.self)
        } else {
          row.storeBytes(of: UInt16(value), toByteOffset: 2 * i, as: UInt16.self)
        }
      }
    }
  }
}
