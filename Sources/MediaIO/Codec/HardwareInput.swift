internal import CUprightFFmpeg
internal import UprightOrientation

/// Gives frames to a hardware encoder: in the layout that it reads, and in its device's memory where it reads that.
/// Used by one thread.
final class HardwareInput {
  private let device: HardwareDevice
  private let layout: FrameLayoutChange
  /// The surfaces of the device; `nil` if the encoder reads frames in the processor's memory.
  private var surfaces: UnsafeMutablePointer<AVBufferRef>?

  /// - Throws: `unavailable` if the device can't be opened, or has no surfaces of this kind.
  init(
    _ encoder: NamedEncoder, _ family: HardwareFamily, size: PixelSize, format: PixelFormat
  ) throws(UprightError) {
    device = try HardwareDevice.shared(by: encoder, family)
    layout = try FrameLayoutChange(size: size, from: format, to: family.input(for: format))
    guard family.readsSurfaces else { return }
    guard let surfaces = av_hwframe_ctx_alloc(device.raw) else { throw outOfMemory("surfaces") }
    self.surfaces = surfaces
    surfaces.pointee.data.withMemoryRebound(to: AVHWFramesContext.self, capacity: 1) {
      $0.pointee.format = AV_PIX_FMT_VAAPI
      $0.pointee.sw_format = layout.format.raw
      $0.pointee.width = CInt(clamping: size.width)
      $0.pointee.height = CInt(clamping: size.height)
    }
    try check(av_hwframe_ctx_init(surfaces)) {
      UprightError(
        .unavailable, "\(encoder.name) has no surfaces for these frames: \(explain($0))",
        at: "\(size) \(format)", remedy: "use --codec \(encoder.codec.rawValue)")
    }
  }

  deinit { av_buffer_unref(&surfaces) }

  /// Sets the frames' format and the device of an encoder that isn't open yet.
  func configure(_ context: UnsafeMutablePointer<AVCodecContext>) {
    if let surfaces {
      context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
      context.pointee.hw_frames_ctx = av_buffer_ref(surfaces)
    } else {
      context.pointee.pix_fmt = layout.format.raw
      context.pointee.hw_device_ctx = av_buffer_ref(device.raw)
    }
  }

  /// Returns the frame as the encoder reads it; `nil` if it reads the frame as it is.
  func frame(of source: borrowing VideoFrame) throws(UprightError) -> VideoFrame? {
    guard let changed = try layout.frame(of: source) else {
      return surfaces == nil ? nil : try uploaded(source)
    }
    return surfaces == nil ? changed : try uploaded(changed)
  }

  private func uploaded(_ frame: borrowing VideoFrame) throws(UprightError) -> VideoFrame {
    var surface = try VideoFrame()
    try check(av_hwframe_get_buffer(surfaces, surface.raw, 0)) {
      UprightError(.fault, "the device has no surface left: \(explain($0))")
    }
    try check(av_hwframe_transfer_data(surface.raw, frame.raw, 0)) {
      UprightError(.fault, "a frame can't be uploaded: \(explain($0))")
    }
    try surface.copyProperties(of: frame)
    return surface
  }
}

/// Copies frames into another layout of the same samples: planar to NV12 or P010.
final class FrameLayoutChange {
  /// The layout of the copies.
  let format: PixelFormat
  /// `nil` if the layout is the same.
  private let pool: FramePool?
  private let scaler = Scaler()

  init(size: PixelSize, from source: PixelFormat, to format: PixelFormat) throws(UprightError) {
    self.format = format
    pool = source == format ? nil : try FramePool(size: size, format: format)
  }

  /// Returns a copy; `nil` if the layout is the same.
  func frame(of source: borrowing VideoFrame) throws(UprightError) -> VideoFrame? {
    guard let pool else { return nil }
    var copy = try pool.frame()
    guard let from = FrameView(source), let to = FrameView(copy) else {
      throw UprightError(.fault, "a \(source.format) frame can't be copied to \(format)")
    }
    let position = source.colour.chromaPosition
    try scaler.scale(
      from, onto: to, colour: source.colour, chroma: .init(from: position, to: position),
      filter: .point)
    try copy.copyProperties(of: source)
    return copy
  }
}
