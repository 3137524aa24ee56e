/// The measured pixel layouts.
enum Layout: String {
  case i420 = "I420"
  case nv12 = "NV12"
}

/// One plane of a frame's layout, in elements.
struct PlaneShape {
  var width: Int
  var height: Int
  var elementSize: Int

  var bytes: Int { width * height * elementSize }
}

extension Layout {
  /// The planes of a frame of `width` x `height` pixels.
  func planes(_ width: Int, _ height: Int) -> [PlaneShape] {
    let half = ((width + 1) / 2, (height + 1) / 2)
    let luma = PlaneShape(width: width, height: height, elementSize: 1)
    switch self {
    case .i420:
      let chroma = PlaneShape(width: half.0, height: half.1, elementSize: 1)
      return [luma, chroma, chroma]
    case .nv12:
      return [luma, PlaneShape(width: half.0, height: half.1, elementSize: 2)]
    }
  }
}

/// A frame in one allocation. Strides are multiples of `align` bytes.
final class Frame {
  let shapes: [PlaneShape]
  let strides: [Int]
  let planes: [UnsafeMutablePointer<UInt8>]
  private let start: UnsafeMutableRawPointer

  init(_ layout: Layout, _ width: Int, _ height: Int, align: Int) {
    shapes = layout.planes(width, height)
    strides = shapes.map { ($0.width * $0.elementSize + align - 1) / align * align }
    let sizes = zip(shapes, strides).map { ($0.height * $1 + 63) / 64 * 64 }
    let total = sizes.reduce(0, +)
    start = .allocate(byteCount: total, alignment: 64)
    let bytes = start.bindMemory(to: UInt8.self, capacity: total)
    for i in 0..<total { bytes[i] = UInt8(truncatingIfNeeded: i &* 13 &+ i >> 9) }
    var offset = 0
    var planes: [UnsafeMutablePointer<UInt8>] = []
    for size in sizes {
      planes.append(bytes + offset)
      offset += size
    }
    self.planes = planes
  }

  deinit { start.deallocate() }

  /// The bytes of the elements without padding.
  var bytes: Int { shapes.reduce(0) { $0 + $1.bytes } }
}
