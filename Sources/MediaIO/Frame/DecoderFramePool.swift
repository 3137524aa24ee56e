internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Synchronization

/// Allocates the memory of one decoder's large frames on huge pages, and reuses it. Small frames, and formats
/// whose planes aren't plain samples, are left to libavcodec.
///
/// The decoder's threads call it. Frames may outlive it.
final class DecoderFramePool: Sendable {
  private struct Pool: @unchecked Sendable {
    var bytes = 0
    var buffers: OpaquePointer?
  }

  private let pool = Mutex(Pool())

  deinit {
    pool.withLock { av_buffer_pool_uninit(&$0.buffers) }
  }

  /// Makes `context`, which isn't open yet, allocate its frames here. The context must not outlive this
  /// object.
  func serve(_ context: UnsafeMutablePointer<AVCodecContext>) {
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.get_buffer2 = { context, frame, flags in
      guard let context, let frame, let own = context.pointee.opaque else {
        return upright_averror(EINVAL)
      }
      let frames = Unmanaged<DecoderFramePool>.fromOpaque(own).takeUnretainedValue()
      return frames.fill(frame, for: context)
        ?? avcodec_default_get_buffer2(context, frame, flags)
    }
    upright_allow_buffers_from_threads(context)
  }

  /// Gives `frame` its planes, one after the other in one buffer, with rows that begin at multiples of 64
  /// bytes. Returns `nil` if libavcodec must allocate the frame.
  private func fill(
    _ frame: UnsafeMutablePointer<AVFrame>, for context: UnsafeMutablePointer<AVCodecContext>
  ) -> CInt? {
    let format = AVPixelFormat(frame.pointee.format)
    guard context.pointee.codec.pointee.capabilities & AV_CODEC_CAP_DR1 != 0,
      let description = av_pix_fmt_desc_get(format),
      description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) != 0,
      description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL) == 0
    else { return nil }
    var (width, height) = (frame.pointee.width, frame.pointee.height)
    withUnsafeTemporaryAllocation(of: CInt.self, capacity: Int(AV_NUM_DATA_POINTERS)) {
      avcodec_align_dimensions2(context, &width, &height, $0.baseAddress)
    }
    // Decoders require chroma rows that are shorter than the luma rows by exactly the subsampling factor.
    let unit: CInt = 64 << CInt(description.pointee.log2_chroma_w)
    width = (width + unit - 1) & -unit
    let bytes = Int(av_image_get_buffer_size(format, width, height, 1))
    // Vector code reads a little past the last row.
    let spare = 128
    guard bytes > 0, FrameMemory.isHuge(bytes + spare) else { return nil }
    guard let buffer = take(bytes + spare) else { return upright_averror(ENOMEM) }
    let filled = FrameMemory.put(
      frame, on: buffer, format: format, width: width, height: height, alignment: 1)
    return min(filled, 0)
  }

  private func take(_ bytes: Int) -> UnsafeMutablePointer<AVBufferRef>? {
    pool.withLock { pool in
      if pool.bytes != bytes {
        av_buffer_pool_uninit(&pool.buffers)
        pool.buffers = av_buffer_pool_init(bytes, FrameMemory.allocate)
        pool.bytes = bytes
      }
      return pool.buffers.flatMap { av_buffer_pool_get($0) }
    }
  }
}
