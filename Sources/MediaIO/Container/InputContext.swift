internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// Bytes that libavformat reads in place of a URL.
protocol InputBytes: AnyObject {
  /// Reads at most as many bytes as the buffer has. Returns their number, or AVERROR_EOF.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> CInt
  /// Moves the position, as `lseek` does. Returns it, or a negative number.
  func seek(_ offset: Int64, _ whence: CInt) -> Int64
  var isSeekable: Bool { get }
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
    if !bytes.isSeekable { context.pointee.seekable = 0 }
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // libavformat may have replaced the first buffer.
    av_freep(&raw.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = raw
    avio_context_free(&pointer)
  }
}

/// The bytes of a pipe, which are read once.
final class PipeInput: InputBytes {
  private let pipe: BytePipe
  private let interrupt: Interrupt
  /// What is left of the last piece.
  private var rest: ArraySlice<UInt8> = []

  init(_ pipe: BytePipe, _ interrupt: Interrupt) { (self.pipe, self.interrupt) = (pipe, interrupt) }

  let isSeekable = false

  func read(into buffer: UnsafeMutableRawBufferPointer) -> CInt {
    if rest.isEmpty { rest = pipe.take(interrupt)?[...] ?? [] }
    let bytes = rest.prefix(buffer.count)
    buffer.copyBytes(from: bytes)
    rest = rest.dropFirst(bytes.count)
    return bytes.isEmpty ? upright_averror_eof() : CInt(bytes.count)
  }

  func seek(_ offset: Int64, _ whence: CInt) -> Int64 { -1 }
}
