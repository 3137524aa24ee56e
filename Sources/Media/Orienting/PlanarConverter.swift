internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// Converts decoded frames to planar formats, so that they can be cropped and turned plane by plane. Packed
/// formats and palettes are unpacked, and transparent areas are drawn on the background colour.
final class PlanarConverter {
  private let background: RGBColour
  private let converter = FrameConverter()
  /// Whether any frame had transparent areas.
  private(set) var hasDrawn = false

  init(background: RGBColour) { self.background = background }

  /// Returns `frame` if its format is already planar, otherwise a converted frame.
  func plain(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    if frame.format.hasAlpha {
      let blended = try converter.converted(frame, to: frame.format.bitDepth > 8 ? .rgba64 : .rgba)
      if blended.flatten(on: background) {
        hasDrawn = true
        return try unpacked(blended)
      }
    }
    return try unpacked(frame)
  }

  private func unpacked(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    let format = frame.format.unpacked
    return format == frame.format ? frame : try converter.converted(frame, to: format)
  }
}
