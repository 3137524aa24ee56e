internal import CUprightFFmpeg
public import UprightOrientation
package import UprightKernels

/// A picture with eight bits each of red, green and blue, row by row without padding.
public struct RGBPicture: Sendable, Hashable {
  /// The size in pixels.
  public let size: PixelSize
  /// The samples, `size.width * size.height * 3` bytes.
  public package(set) var bytes: [UInt8]

  /// Creates a picture of samples. Returns `nil` unless their number is that of the size.
  public init?(size: PixelSize, bytes: [UInt8]) {
    let (pixels, isTooLarge) = size.width.multipliedReportingOverflow(by: size.height)
    guard !isTooLarge, min(size.width, size.height) > 0, bytes.count % 3 == 0,
      bytes.count / 3 == pixels
    else { return nil }
    (self.size, self.bytes) = (size, bytes)
  }

  /// A picture of one colour.
  package init(size: PixelSize, colour: RGBColour) {
    self.size = size
    bytes = []
    bytes.reserveCapacity(size.width * size.height * 3)
    for _ in 0..<size.width * size.height { bytes += [colour.red, colour.green, colour.blue] }
  }

  /// A picture of `frame` whose longer side is `side` pixels.
  package init(
    _ frame: borrowing VideoFrame, longestSide side: Int, scaler: Scaler
  ) throws(UprightError) {
    let size = frame.size
    let scale = Double(side) / Double(max(size.width, size.height, 1))
    let fitted = PixelSize(
      max(1, Int(clamping: Double(size.width) * scale)),
      max(1, Int(clamping: Double(size.height) * scale)))
    try self.init(frame, size: fitted, scaler: scaler)
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
    write(plane)
  }

  /// Replaces the whole picture with the content of `plane`.
  mutating func write(_ plane: VideoFrame.PlaneMemory) {
    bytes.removeAll(keepingCapacity: true)
    for y in 0..<size.height {
      bytes += UnsafeBufferPointer(start: plane.start + y * plane.stride, count: size.width * 3)
    }
  }

  /// Draws a picture at a place, where it must fit.
  package mutating func draw(_ picture: RGBPicture, x: Int, y: Int) {
    let row = picture.size.width * 3
    guard x >= 0, y >= 0, x + picture.size.width <= size.width,
      y + picture.size.height <= size.height
    else { return }
    for line in 0..<picture.size.height {
      let start = ((y + line) * size.width + x) * 3
      bytes.replaceSubrange(start..<start + row, with: picture.bytes[line * row..<(line + 1) * row])
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

  /// Returns the picture as a frame of JPEG's luma and chroma (ISO/IEC 10918-5, 6.2), without subsampling.
  private func frameForJPEG() throws(UprightError) -> VideoFrame {
    let frame = try FramePool(size: size, format: PixelFormat(AV_PIX_FMT_YUVJ444P)).frame()
    guard let luma = frame.plane(0), let blue = frame.plane(1), let red = frame.plane(2) else {
      throw outOfMemory("a picture")
    }
    bytes.withUnsafeBufferPointer { source in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let place = 3 * (y * size.width + x)
          let (r, g, b) = (Int(source[place]), Int(source[place + 1]), Int(source[place + 2]))
          // The factors are in units of 2^-16. All sums are within 0...255.
          luma.start[y * luma.stride + x] = UInt8((19595 * r + 38470 * g + 7471 * b + 32768) >> 16)
          blue.start[y * blue.stride + x] = UInt8(
            (8_388_608 + 32767 - 11058 * r - 21710 * g + 32768 * b) >> 16)
          red.start[y * red.stride + x] = UInt8(
            (8_388_608 + 32767 + 32768 * r - 27440 * g - 5328 * b) >> 16)
        }
      }
    }
    return frame
  }

  /// Returns the picture as a PNG file.
  package func png() throws(UprightError) -> [UInt8] {
    try encoded(AV_CODEC_ID_PNG, "PNG", frame()) { _ in }
  }

  /// Returns the picture as a JPEG file, with losses.
  ///
  /// - Throws: `unavailable` if FFmpeg has no encoder for JPEG, `fault` if it fails.
  public func jpeg() throws(UprightError) -> [UInt8] {
    try encoded(AV_CODEC_ID_MJPEG, "JPEG", frameForJPEG()) { context in
      context.pointee.color_range = AVCOL_RANGE_JPEG
      context.pointee.flags |= AV_CODEC_FLAG_QSCALE
      context.pointee.global_quality = Self.jpegQuality * FF_QP2LAMBDA
    }
  }

  /// The quantizer scale, 2 (best) to 31.
  private static let jpegQuality: CInt = 5

  private func encoded(
    _ id: AVCodecID, _ name: String, _ frame: consuming VideoFrame,
    _ set: (UnsafeMutablePointer<AVCodecContext>) -> Void
  ) throws(UprightError) -> [UInt8] {
    guard let codec = avcodec_find_encoder(id) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no \(name) encoder")
    }
    var made = QuietContext.codec(codec)
    defer { avcodec_free_context(&made) }
    guard let context = made else { throw outOfMemory(name) }
    context.pointee.width = CInt(clamping: size.width)
    context.pointee.height = CInt(clamping: size.height)
    context.pointee.pix_fmt = AVPixelFormat(frame.raw.pointee.format)
    context.pointee.time_base = AVRational(num: 1, den: 1)
    set(context)
    // MJPEG's encoder scales the quality by the frame.
    frame.raw.pointee.quality = context.pointee.global_quality
    try check(avcodec_open2(context, codec, nil)) {
      UprightError(.fault, "\(name): \(explain($0))")
    }
    try check(avcodec_send_frame(context, frame.raw)) {
      UprightError(.fault, "\(name): \(explain($0))")
    }
    let packet = try Packet()
    try check(avcodec_receive_packet(context, packet.raw)) {
      UprightError(.fault, "\(name): \(explain($0))")
    }
    return packet.withBytes { Array($0) }
  }
}
