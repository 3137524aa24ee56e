internal import UprightOrientation

/// Makes three planes of packed 4:2:2, in memory of its own, row by row, so that a row is still in the cache when its
/// chroma is divided.
final class FrameUnpacker {
  /// The size of the frames.
  let size: PixelSize
  /// The planes, of an even width: a pair of pixels has two samples of luma, also at the edge of an odd frame.
  private let planes: MutablePlaneSet
  private let window: PlaneSet
  /// A row of Cb and Cr in turn.
  private let chroma: UnsafeMutableRawPointer
  private let memory: UnsafeMutableRawPointer

  /// - Throws: `layout` for a size that isn't 1 to 65536 pixels.
  init(_ size: PixelSize) throws(PixelKernelsError) {
    let sides = 1...65536
    guard sides.contains(size.width), sides.contains(size.height) else {
      throw PixelKernelsError(code: .layout, message: "a packed frame of \(size)")
    }
    self.size = size
    let even = PixelSize(size.width + size.width & 1, size.height)
    unsafe memory = .allocate(byteCount: even.width * (2 * size.height + 1), alignment: 64)
    var planes = MutablePlaneSet(.i422(), size: even)
    let area = even.width * size.height
    unsafe planes.append(memory, stride: even.width)
    unsafe planes.append(memory + area, stride: even.width / 2)
    unsafe planes.append(memory + area + area / 2, stride: even.width / 2)
    unsafe chroma = memory + 2 * area
    self.planes = planes
    let whole = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
    // Never absent: the rectangle is inside.
    window = PlaneSet(planes.window(whole) ?? planes)
  }

  deinit { unsafe memory.deallocate() }

  /// Returns the frame's samples in three planes, which are valid until the next call.
  ///
  /// - Parameter source: A packed frame of `size`.
  /// - Throws: `layout` if its rows overlap.
  func unpack(
    _ source: PlaneSet, _ kernels: PixelKernels
  ) throws(PixelKernelsError) -> PlaneSet {
    let pairs = source[0]
    let isCbFirst = source.layout.components[1].offset < source.layout.components[2].offset
    let (first, second) = isCbFirst ? (planes[1], planes[2]) : (planes[2], planes[1])
    for y in 0..<size.height {
      let both = unsafe MutablePlaneView(chroma, stride: 0, width: 2 * pairs.width, height: 1)
      try kernels.deinterleave(
        unsafe PlaneView(
          pairs.base + y * pairs.stride, stride: pairs.stride, width: 2 * pairs.width, height: 1),
        into: planes[0].row(y), both, componentSize: 1)
      let alternating = unsafe PlaneView(chroma, stride: 0, width: pairs.width, height: 1)
      try kernels.deinterleave(
        alternating, into: first.row(y), second.row(y), componentSize: 1)
    }
    return window
  }
}

extension MutablePlaneView {
  /// One row of elements.
  fileprivate func row(_ y: Int) -> MutablePlaneView {
    unsafe MutablePlaneView(base + y * stride, stride: stride, width: width, height: 1)
  }
}
