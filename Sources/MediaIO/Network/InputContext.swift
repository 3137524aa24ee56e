internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// Bytes that libavformat reads from this package.
protocol InputBytes: AnyObject {
  /// Reads into `buffer`, which isn't empty. Returns the number of bytes, or FFmpeg's error or end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> CInt
  /// Whether `seek` can be called.
  var isSeekable: Bool { get }
  /// Goes to a position, or returns the size, as `AVIOContext.seek` does. Returns a negative number if it can't.
  func seek(_ offset: Int64, _ whence: CInt) -> Int64
}

/// A libavformat I/O context that reads `InputBytes`.
final class InputContext {
  let raw: UnsafeMutablePointer<AVIOContext>
  private let bytes: any InputBytes

  init(_ bytes: any InputBytes) throws(UprightError) {
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
        !bytes.isSeekable
          ? nil
          : { opaque, offset, whence in
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
    if !bytes.isSeekable { context.pointee.seekable = 0 }
  }

  deinit {
    // libavformat may have replaced the first buffer.
    av_freep(&raw.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = raw
    avio_context_free(&pointer)
  }
}
