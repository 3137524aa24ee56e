internal import Orientation
package import UprightMediaIO

/// Makes of whatever a decoder gives pictures that can be cropped and turned plane by plane: packed
/// formats and palettes are taken apart, and what is transparent is drawn on the background.
package final class PlainPictures {
  private let background: RGBColour
  private let scaler = Scaler()
  private var pool: FramePool?
  /// Whether anything was transparent.
  package private(set) var hasDrawn = false

  package init(background: RGBColour) { self.background = background }

  /// `frame`, or what stands for it; a frame of plain planes is given back as it is.
  package func plain(_ frame: consuming VideoFrame) throws(MediaError) -> VideoFrame {
    if frame.format.hasAlpha {
      let picture = try converted(frame, to: frame.format.bitDepth > 8 ? .rgba64 : .rgba)
      if picture.flatten(on: background) {
        hasDrawn = true
        return try unpacked(picture)
      }
    }
    return try unpacked(frame)
  }

  private func unpacked(_ frame: consuming VideoFrame) throws(MediaError) -> VideoFrame {
    let format = frame.format.unpacked
    return format == frame.format ? frame : try converted(frame, to: format)
  }

  private func converted(
    _ frame: borrowing VideoFrame, to format: PixelFormat
  ) throws(MediaError) -> VideoFrame {
    let pool: FramePool
    if let present = self.pool, present.size == frame.size, present.format == format {
      pool = present
    } else {
      pool = try FramePool(size: frame.size, format: format)
      self.pool = pool
    }
    var result = try pool.frame()
    try result.adoptProperties(of: frame)
    // What was YUV keeps its matrix; RGB made of it says which one it was made with.
    result.colour = frame.colour
    guard let from = PictureView(frame), let to = PictureView(result) else {
      throw MediaError(.unavailable, "pictures in \(frame.format) cannot be taken apart")
    }
    let siting = frame.colour.chromaPosition
    try scaler.scale(
      from, onto: to, colour: frame.colour, chroma: .init(from: siting, to: siting),
      filter: .bicubic)
    return result
  }
}
