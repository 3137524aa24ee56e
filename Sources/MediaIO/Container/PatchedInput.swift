internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
internal import UprightOrientation

/// A libavformat I/O context that reads a file with some of its bytes replaced.
final class PatchedInput {
  /// Bytes that replace those at a position.
  struct Patch: Sendable, Hashable {
    let position: Int
    let bytes: [UInt8]
  }

  let context: UnsafeMutablePointer<AVIOContext>
  private let source: ByteSource
  private let patches: [Patch]
  private var position = 0

  init(_ source: ByteSource, _ patches: [Patch]) throws(UprightError) {
    self.source = source
    self.patches = patches
    let size = 32 * 1024
    guard let buffer = av_malloc(size) else { throw outOfMemory("input") }
    // The context's opaque pointer is set below, once `self` is initialized.
    guard
      let context = avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), CInt(size), 0, nil,
        { opaque, bytes, count in
          guard let opaque, let bytes, count > 0 else { return upright_averror_eof() }
          let input = Unmanaged<PatchedInput>.fromOpaque(opaque).takeUnretainedValue()
          let read = input.read(Int(count))
          bytes.update(from: read, count: read.count)
          return read.isEmpty ? upright_averror_eof() : CInt(read.count)
        }, nil,
        { opaque, offset, whence in
          guard let opaque else { return -1 }
          return Unmanaged<PatchedInput>.fromOpaque(opaque).takeUnretainedValue()
            .seek(offset, whence & ~AVSEEK_FORCE)
        })
    else {
      av_free(buffer)
      throw outOfMemory("input")
    }
    self.context = context
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // libavformat may have replaced the first buffer.
    av_freep(&context.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = context
    avio_context_free(&pointer)
  }

  private func read(_ count: Int) -> [UInt8] {
    var bytes = source.read(at: position, count: count)
    for patch in patches {
      for (index, byte) in patch.bytes.enumerated()
      where bytes.indices.contains(patch.position + index - position) {
        bytes[patch.position + index - position] = byte
      }
    }
    position += bytes.count
    return bytes
  }

  private func seek(_ offset: Int64, _ whence: CInt) -> Int64 {
    let size = Int64(clamping: source.size ?? -1)
    let base: Int64
    switch whence {
    case AVSEEK_SIZE: return size
    case SEEK_SET: base = 0
    case SEEK_CUR: base = Int64(clamping: position)
    case SEEK_END where size >= 0: base = size
    default: return -1
    }
    let (sum, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, sum >= 0, let target = Int(exactly: sum) else { return -1 }
    position = target
    return sum
  }
}
