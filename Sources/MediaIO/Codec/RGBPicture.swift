internal import CFFmpeg
package import Orientation
package import PixelKernels

/// A picture with eight bits each of red, green and blue, row by row without padding.
package struct RGBPicture: Sendable, Hashable {
  package let size: PixelSize
  /// The samples, `size.width * size.height * 3` bytes.
  package var bytes: [UInt8]

  /// A picture of one colour.
  package init(size: PixelSize, colour: RGBColour) {
    self.size = size
    bytes = []
    bytes.reserveCapacity(size.width * size.height * 3)
    for _ in 0..<size.width * size.height { bytes += [colour.red, colour.green, colour.blue] }
  }

  /// A picture of `frame`, scaled to `size`.
  package init(
    _ frame: borrowing VideoFrame, size: PixelSize, scaler: Scaler
  ) throws(UprightError) {
    let pool = try FramePool(size: size, format: PixelFormat(AV_PIX_FMT_RGB24))
    let target = try pool.frame()
    guard let source = FrameView(frame), let view = FrameView(target),
      let plane = target.plane(0)
    else { throw UprightError(.fault, "a \(frame.format) frame cannot be scaled down") }
    let chroma = frame.colour.chromaPosition
    try scaler.scale(
      source, onto: view, colour: frame.colour, chroma: .init(from: chroma, to: chroma),
      filter: .area)
    self.size = size
    bytes = []
    take(plane)
  }

  /// Replaces the whole picture with the content of `plane`.
  mutating func take(_ plane: VideoFrame.PlaneMemory) {
    bytes.removeAll(keepingCapacity: true)
    for y in 0..<size.height {
      bytes += UnsafeBufferPointer(start: plane.start + y * plane.stride, count: size.width * 3)
    }
  }

  /// Returns the picture as an RGB24 frame.
  func frame() throws(UprightError) -> VideoFrame {
    let frame = try FramePool(size: size, format: PixelFormat(AV_PIX_FMT_RGB24)).frame()
    guard let plane = frame.plane(0) else { throw outOfMemory("a picture") }
    bytes.withUnsafeBufferPointer { source in
      guard let start = source.baseAddress else { return }
      for y in 0..<size.height {
        (plane.start + y * plane.stride).update(
          from: start + y * size.width * 3, count: size.width * 3)
      }
    }
    return frame
  }

  /// Returns the picture as a PNG file.
  package func png() throws(UprightError) -> [UInt8] {
    guard let codec = avcodec_find_encoder(AV_CODEC_ID_PNG) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no PNG encoder")
    }
    var made = QuietContext.codec(codec)
    defer { avcodec_free_context(&made) }
    guard let context = made else { throw outOfMemory("PNG") }
    context.pointee.width = CInt(clamping: size.width)
    context.pointee.height = CInt(clamping: size.height)
    context.pointee.pix_fmt = AV_PIX_FMT_RGB24
    context.pointee.time_base = AVRational(num: 1, den: 1)
    try check(avcodec_open2(context, codec, nil)) { UprightError(.fault, "PNG: \(explain($0))") }
    let frame = try frame()
    try check(avcodec_send_frame(context, frame.raw)) {
      UprightError(.fault, "PNG: \(explain($0))")
    }
    let packet = try Packet()
    try check(avcodec_receive_packet(context, packet.raw)) {
      UprightError(.fault, "PNG: \(explain($0))")
    }
    return packet.withBytes { Array($0) }
  }
}
