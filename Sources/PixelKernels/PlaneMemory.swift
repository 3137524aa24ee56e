package import UprightOrientation

/// A frame in memory of its own, whose rows begin at multiples of 64 bytes.
@safe package final class PlaneMemory {
  /// The planes. The memory is theirs while this object is referred to.
  package let planes: MutablePlaneSet
  private let memory: UnsafeMutableRawPointer

  /// A frame whose samples aren't set.
  ///
  /// - Throws: `layout` for a size that isn't 1 to 65536 pixels, or a layout that isn't valid.
  package init(_ layout: PixelLayout, _ size: PixelSize) throws(PixelKernelsError) {
    let sides = 1...65536
    guard layout.isValid, sides.contains(size.width), sides.contains(size.height) else {
      throw PixelKernelsError(code: .layout, message: "a frame of \(size)")
    }
    let extents = layout.planes.map { plane in
      let extent = layout.size(of: plane, in: size)
      let stride = (extent.width * plane.elementSize + 63) & ~63
      return (stride: stride, bytes: stride * extent.height)
    }
    unsafe memory = .allocate(byteCount: extents.reduce(0) { $0 + $1.bytes }, alignment: 64)
    var planes = MutablePlaneSet(layout, size: size)
    var first = 0
    for extent in extents {
      unsafe planes.append(memory + first, stride: extent.stride)
      first += extent.bytes
    }
    self.planes = planes
  }

  deinit { unsafe memory.deallocate() }
}
