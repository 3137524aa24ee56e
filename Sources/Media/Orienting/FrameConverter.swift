package import UprightOrientation
package import UprightMediaIO

/// Converts frames to other pixel formats of the same size. Keeps the memory of one format and size for the next
/// frame. Used by one thread.
package final class FrameConverter {
  private let scaler: Scaler
  private let filter: Scaler.Filter
  private let packsRGB: Bool
  private var pool: FramePool?

  /// - Parameters:
  ///   - isAccurate: Whether samples are as exact as libswscale makes them, in several times the time.
  ///   - packsRGB: Whether rows of RGB have no padding where the width is a multiple of eight. Libswscale writes
  ///     eight pixels at a time, beyond other rows or not up to their end.
  package init(isAccurate: Bool = true, packsRGB: Bool = false) {
    self.packsRGB = packsRGB
    scaler = Scaler(isAccurate: isAccurate)
    filter = isAccurate ? .bicubic : .bilinear
  }

  /// Returns `frame` in `format`, with the same properties. RGB that is made from YUV keeps the description of the
  /// matrix that it was made with.
  ///
  /// - Throws: `unavailable` if libswscale can't read or write a format.
  package func converted(
    _ frame: borrowing VideoFrame, to format: PixelFormat
  ) throws(UprightError) -> VideoFrame {
    var result = try pool(frame.size, format).frame()
    try result.copyProperties(of: frame)
    result.colour = frame.colour
    guard let from = FrameView(frame), let to = FrameView(result) else {
      throw UprightError(
        .unavailable, "a \(frame.format) frame can't be converted to \(format)")
    }
    let position = frame.colour.chromaPosition
    try scaler.scale(
      from, onto: to, colour: frame.colour, chroma: .init(from: position, to: position),
      filter: filter)
    return result
  }

  private func pool(_ size: PixelSize, _ format: PixelFormat) throws(UprightError) -> FramePool {
    if let pool, pool.size == size, pool.format == format { return pool }
    let made = try FramePool(
      size: size, format: format, isPacked: packsRGB && format.isRGB && size.width % 8 == 0)
    pool = made
    return made
  }
}
