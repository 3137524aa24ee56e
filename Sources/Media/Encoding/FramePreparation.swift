internal import UprightOrientation
package import UprightKernels
internal import UprightMediaIO

/// Converts decoded frames to what can be laid out: tone-mapped where that is wanted, planar, and without
/// transparency. The pipelines of several canvases share one, which converts a frame once. Used by one thread.
package final class FramePreparation {
  private var converter: PlanarConverter
  private var background: RGBColour
  private var toneMapper: ToneMapper?
  /// A converted frame.
  private struct Made {
    /// The timestamp and the format of its source.
    let time: Int64
    let format: PixelFormat
    let frame: SharedFrame

    func isOf(_ source: borrowing VideoFrame) -> Bool {
      source.pts == time && source.format == format
    }
  }

  private let isShared: Bool
  /// The last frames that were converted, if several pipelines ask.
  private var lastMapped: Made?
  private var lastPlanar: Made?

  /// - Parameters:
  ///   - background: The colour that transparent areas are drawn on.
  ///   - isShared: Whether several pipelines ask for each frame.
  package init(background: RGBColour, isShared: Bool) {
    self.background = background
    converter = PlanarConverter(background: background)
    self.isShared = isShared
  }

  /// Whether any frame had transparent areas.
  var hasDrawn: Bool { converter.hasDrawn }

  func change(_ background: RGBColour) {
    guard background != self.background else { return }
    self.background = background
    converter = PlanarConverter(background: background)
  }

  /// Returns an HDR frame as SDR.
  ///
  /// - Parameter size: The size that is enough for the only pipeline that asks; `nil` for the frame's.
  func toneMapped(
    _ frame: consuming VideoFrame, size: PixelSize?
  ) throws(UprightError) -> VideoFrame {
    let size = isShared ? nil : size
    if let lastMapped, lastMapped.isOf(frame) { return try lastMapped.frame.frame.shared() }
    if toneMapper?.accepts(frame, size: size) != true {
      toneMapper = try ToneMapper(like: frame, size: size)
    }
    guard let toneMapper else { return frame }
    let (time, format) = (frame.pts, frame.format)
    let mapped = try toneMapper.mapped(frame)
    if isShared, let time {
      lastMapped = Made(time: time, format: format, frame: SharedFrame(try mapped.shared()))
    }
    return mapped
  }

  /// Returns a planar frame.
  func plain(_ frame: consuming VideoFrame) throws(UprightError) -> VideoFrame {
    if let lastPlanar, lastPlanar.isOf(frame) { return try lastPlanar.frame.frame.shared() }
    let (time, format) = (frame.pts, frame.format)
    let planar = try converter.plain(frame)
    if isShared, planar.format != format, let time {
      lastPlanar = Made(time: time, format: format, frame: SharedFrame(try planar.shared()))
    }
    return planar
  }
}
