internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc

/// A file with some of its bytes replaced.
final class PatchedInput: InputBytes {
  let isSeekable = true
  /// Bytes that replace those at a position.
  struct Patch: Sendable, Hashable {
    let position: Int
    let bytes: [UInt8]
  }

  private let source: ByteSource
  private let patches: [Patch]
  private var position = 0

  init(_ source: ByteSource, _ patches: [Patch]) {
    (self.source, self.patches) = (source, patches)
  }

  /// Reads into `buffer`, which isn't empty. Returns the number of bytes, or FFmpeg's end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> CInt {
    let bytes = read(buffer.count)
    buffer.copyBytes(from: bytes)
    return bytes.isEmpty ? upright_averror_eof() : CInt(bytes.count)
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

  /// Goes to a position, or returns the size, as `AVIOContext.seek` does. Returns a negative number if it can't.
  func seek(_ offset: Int64, _ whence: CInt) -> Int64 {
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
