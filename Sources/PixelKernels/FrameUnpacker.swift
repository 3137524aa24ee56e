internal import UprightOrientation

/// Makes three planes of packed 4:2:2, in memory of its own, row by row, so that a row is still in the cache when its
/// chroma is divided.
final class FrameUnpacker {
  /// The size of the frames.
  let size: PixelSize
  /// Of an even width: a pair of pixels has two samples of luma, also at the edge of an odd frame.
  private let memory: PlaneMemory
  /// A row of Cb and Cr in turn.
  private let chroma: PlaneMemory
  private let window: PlaneSet

  /// - Throws: `layout` for a size that isn't 1 to 65535 pixels.
  init(_ size: PixelSize) throws(PixelKernelsError) {
    let even = PixelSize(size.width &+ size.width & 1, size.height)
    memory = try PlaneMemory(.i422(), even)
    chroma = try PlaneMemory(.gray, PixelSize(even.width, 1))
    self.size = size
    // Never absent: the rectangle is inside.
    window = PlaneSet(
      memory.planes.window(PixelRect(x: 0, y: 0, width: size.width, height: size.height))
        ?? memory.planes)
  }

  /// Returns the frame's samples in three planes, which are valid until the next call.
  ///
  /// - Parameter source: A packed frame of `size`.
  /// - Throws: `layout` if its rows overlap.
  func unpack(
    _ source: PlaneSet, _ kernels: PixelKernels
  ) throws(PixelKernelsError) -> PlaneSet {
    let (pairs, planes, row) = (source[0], memory.planes, chroma.planes[0])
    let isCbFirst = source.layout.components[1].offset < source.layout.components[2].offset
    let (first, second) = isCbFirst ? (planes[1], planes[2]) : (planes[2], planes[1])
    let alternating = PlaneView(
      unsafe MutablePlaneView(row.base, stride: row.stride, width: pairs.width, height: 1))
    for y in 0..<size.height {
      let samples = unsafe PlaneView(
        pairs.base + y * pairs.stride, stride: pairs.stride, width: 2 * pairs.width, height: 1)
      try kernels.deinterleave(samples, into: planes[0].row(y), row, componentSize: 1)
      try kernels.deinterleave(alternating, into: first.row(y), second.row(y), componentSize: 1)
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
