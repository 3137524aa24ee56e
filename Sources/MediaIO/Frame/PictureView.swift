internal import CFFmpeg
package import Orientation

/// A window into a frame's memory: the frame itself, or a rectangle of it. Borrowed: it is valid only
/// while the frame is.
package struct PictureView {
  package let size: PixelSize
  package let format: PixelFormat
  /// First element of each plane inside the window.
  package private(set) var starts = PlaneList<UnsafeMutablePointer<UInt8>>()
  /// Bytes between rows of each plane.
  package private(set) var strides = PlaneList<Int>()

  /// The window `rect` of `frame`; its corner must lie on whole chroma samples. Nil where the
  /// rectangle leaves the frame or the format has no planes.
  package init?(_ frame: borrowing VideoFrame, _ rect: PixelRect) {
    format = frame.format
    size = rect.size
    guard rect.x >= 0, rect.y >= 0, rect.width > 0, rect.height > 0,
      rect.x + rect.width <= frame.size.width, rect.y + rect.height <= frame.size.height
    else { return nil }
    guard let planes = format.planes else {
      // libswscale reads what has no simple planes, as long as it starts at the corner.
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

  /// The whole of `frame`.
  package init?(_ frame: borrowing VideoFrame) {
    self.init(frame, PixelRect(frame.size))
  }

  /// Elements in a row and rows of plane `index`, chroma rounded up as libavutil does.
  package func planeSize(_ layout: PixelFormat.Plane) -> PixelSize {
    PixelSize(-(-size.width >> layout.shiftX), -(-size.height >> layout.shiftY))
  }

  /// The planes as the C arrays of four that libswscale takes.
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
