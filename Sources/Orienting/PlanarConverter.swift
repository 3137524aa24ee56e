package import UprightOrientation
package import UprightKernels
package import UprightMediaIO

/// Converts decoded frames to planar formats, so that they can be cropped and turned plane by plane. Packed
/// formats and palettes are unpacked, and transparent areas are drawn on the background colour.
package final class PlanarConverter {
  private let background: RGBColour
  private let scaler = Scaler()
  private var pool: FramePool?
  /// Whether any frame had transparent areas.
  package private(set) var hasDrawn = false

  package init(background: RGBColour) { self.background = background }

  /// Returns `frame` if its format is already planar, otherwise a converted frame.
  package func plain(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    if frame.format.hasAlpha {
      let blended = try converted(frame, to: frame.format.bitDepth > 8 ? .rgba64 : .rgba)
      if blended.flatten(on: background) {
        hasDrawn = true
        return try unpacked(blended)
      }
    }
    return try unpacked(frame)
  }

  private func unpacked(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    let format = frame.format.unpacked
    return format == frame.format ? frame : try converted(frame, to: format)
  }

  private func converted(
    _ frame: borrowing VideoFrame, to format: PixelFormat
  ) throws(UprightError) -> VideoFrame {
    let pool: FramePool
    if let present = self.pool, present.size == frame.size, present.format == format {
      pool = present
    } else {
      pool = try FramePool(size: frame.size, format: format)
      self.pool = pool
    }
    var result = try pool.frame()
    try result.copyProperties(of: frame)
    // YUV keeps its matrix. RGB made from it keeps the description of the matrix it was made with.
    result.colour = frame.colour
    guard let from = FrameView(frame), let to = FrameView(result) else {
      throw UprightError(.unavailable, "frames in \(frame.format) can't be unpacked")
    }
    let siting = frame.colour.chromaPosition
    try scaler.scale(
      from, onto: to, colour: frame.colour, chroma: .init(from: siting, to: siting),
      filter: .bicubic)
    return result
  }
}
