internal import CUprightFFmpegShims

/// The bytes of a `BytePipe`.
final class PipeInput: InputBytes {
  private let pipe: BytePipe
  private let interrupt: Interrupt

  init(_ pipe: BytePipe, interrupt: Interrupt) {
    (self.pipe, self.interrupt) = (pipe, interrupt)
  }

  let isSeekable = false

  func read(into buffer: UnsafeMutableRawBufferPointer) -> CInt {
    guard let count = pipe.read(into: buffer, interrupt) else { return upright_averror_exit() }
    return count > 0 ? CInt(count) : upright_averror_eof()
  }

  func seek(_ offset: Int64, _ whence: CInt) -> Int64 { -1 }
}
