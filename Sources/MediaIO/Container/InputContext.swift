internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// A libavformat I/O context that reads a `PatchedInput`.
final class InputContext {
  let raw: UnsafeMutablePointer<AVIOContext>
  private let bytes: PatchedInput

  init(_ bytes: PatchedInput) throws(UprightError) {
    self.bytes = bytes
    let size = 32 * 1024
    guard let buffer = av_malloc(size) else { throw outOfMemory("input") }
    // The context's opaque pointer is set below, once `self` is initialized.
    guard
      let context = avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), CInt(size), 0, nil,
        { opaque, bytes, count in
          guard let opaque, let bytes, count > 0 else { return upright_averror_eof() }
          return Unmanaged<InputContext>.fromOpaque(opaque).takeUnretainedValue().bytes
            .read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
        }, nil,
        { opaque, offset, whence in
          guard let opaque else { return -1 }
          return Unmanaged<InputContext>.fromOpaque(opaque).takeUnretainedValue().bytes
            .seek(offset, whence & ~AVSEEK_FORCE)
        })
    else {
      av_free(buffer)
      throw outOfMemory("input")
    }
    raw = context
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // libavformat may have replaced the first buffer.
    av_freep(&raw.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = raw
    avio_context_free(&pointer)
  }
}
