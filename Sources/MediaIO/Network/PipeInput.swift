internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// A libavformat I/O context that reads from a `BytePipe`.
final class PipeInput {
  let context: UnsafeMutablePointer<AVIOContext>
  private let pipe: BytePipe
  private let interrupt: Interrupt

  init(_ pipe: BytePipe, interrupt: Interrupt) throws(UprightError) {
    self.pipe = pipe
    self.interrupt = interrupt
    let size = 32 * 1024
    guard let buffer = av_malloc(size) else { throw outOfMemory("input") }
    // The context's opaque pointer is set below, once `self` is initialized.
    guard
      let context = avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), CInt(size), 0, nil,
        { opaque, bytes, count in
          guard let opaque, let bytes, count > 0 else { return upright_averror_eof() }
          let input = Unmanaged<PipeInput>.fromOpaque(opaque).takeUnretainedValue()
          let target = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
          guard let moved = input.pipe.read(into: target, input.interrupt) else {
            return upright_averror_exit()
          }
          return moved > 0 ? CInt(moved) : upright_averror_eof()
        }, nil, nil)
    else {
      av_free(buffer)
      throw outOfMemory("input")
    }
    self.context = context
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.seekable = 0
  }

  deinit {
    // libavformat may have replaced the first buffer.
    av_freep(&context.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&pointer)
  }
}
