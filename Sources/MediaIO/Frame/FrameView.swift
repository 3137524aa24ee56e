internal import CUprightFFmpeg
package import UprightOrientation
package import UprightKernels

/// A view of a frame's memory: the whole frame, or a rectangle of it. It is valid only while the frame is.
package struct FrameView {
  package let size: PixelSize
  package let format: PixelFormat
  /// The first element of each plane inside the view.
  package private(set) var starts = PlaneList<UnsafeMutablePointer<UInt8>>()
  /// The number of bytes between rows of each plane.
  package private(set) var strides = PlaneList<Int>()

  /// The view of `rect` in `frame`. Its corner must be aligned to whole chroma samples. Returns `nil` if the
  /// rectangle isn't inside the frame, or if the format has no simple planes and the rectangle doesn't begin
  /// at the corner.
  package init?(_ frame: borrowing VideoFrame, _ rect: PixelRect) {
    format = frame.format
    size = rect.size
    guard rect.x >= 0, rect.y >= 0, rect.width > 0, rect.height > 0,
      rect.x + rect.width <= frame.size.width, rect.y + rect.height <= frame.size.height
    else { return nil }
    guard let planes = format.layout?.planes else {
      // libswscale reads formats without simple planes, if the view starts at the corner.
      guard rect.x == 0, rect.y == 0 else { return nil }
      for index in 0..<4 {
        guard let plane = frame.plane(index) else { break }
        starts.append(plane.start)
        strides.append(plane.stride)
      }
      return
    }
    for (index, layout) in planes.enumerated() {
      guard let plane = frame.plane(index) else { return nil }
      let offset =
        (rect.y >> layout.shiftY) * plane.stride + (rect.x >> layout.shiftX) * layout.elementSize
      starts.append(plane.start + offset)
      strides.append(plane.stride)
    }
  }

  /// The view of the whole of `frame`.
  package init?(_ frame: borrowing VideoFrame) {
    self.init(frame, PixelRect(frame.size))
  }

  /// The planes in the form that the kernels take; `nil` if the format has no simple planes.
  package var planes: MutablePlaneSet? {
    guard let layout = format.layout, layout.planes.count <= starts.count else { return nil }
    var planes = MutablePlaneSet(layout, size: size)
    for index in layout.planes.indices { planes.append(starts[index], stride: strides[index]) }
    return planes
  }

  /// Calls `body` with the planes as the C arrays of four that libswscale takes.
  func withPointers<R>(
    _ body: (UnsafePointer<UnsafeMutablePointer<UInt8>?>, UnsafePointer<CInt>) -> R
  ) -> R {
    var pointers = starts.map(Optional.some)
    var lines = strides.map { CInt(clamping: $0) }
    while pointers.count < 4 {
      pointers.append(nil)
      lines.append(0)
    }
    return body(pointers, lines)
  }
}
