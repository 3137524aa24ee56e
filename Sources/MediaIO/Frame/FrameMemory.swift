internal import CUprightFFmpeg
internal import Glibc

/// The memory for the samples of frames. Large frames are on huge pages. Rotating a frame, or decoding
/// motion, goes from row to row, and with pages of 4 KiB nearly every row is on another page, which costs a
/// TLB miss and, at first, a page fault.
enum FrameMemory {
  /// The common huge page size of x86-64 and AArch64, in bytes.
  private static let hugePage = 2 << 20

  /// Returns whether a frame of that many bytes gets huge pages: it must fill at least one.
  static func isHuge(_ bytes: Int) -> Bool { bytes >= hugePage }

  /// Allocates that many bytes, aligned to 64, for `av_buffer_pool_init`. Returns `nil` if there is no
  /// memory.
  static let allocate: @convention(c) (Int) -> UnsafeMutablePointer<AVBufferRef>? = { bytes in
    isHuge(bytes) ? mapped(bytes) : av_buffer_alloc(bytes)
  }

  /// Maps zeroed memory that begins on a huge page. The end that doesn't fill a huge page is on ordinary
  /// pages. On a system without huge pages the memory is ordinary.
  private static func mapped(_ bytes: Int) -> UnsafeMutablePointer<AVBufferRef>? {
    let page = sysconf(CInt(_SC_PAGESIZE))
    let length = (bytes + page - 1) & -page
    let room = length + hugePage
    guard let start = mmap(nil, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      start != MAP_FAILED
    else { return nil }
    let before = -Int(bitPattern: start) & (hugePage - 1)
    let data = start + before
    if before > 0 { munmap(start, before) }
    munmap(data + length, room - length - before)
    madvise(data, length, MADV_HUGEPAGE)
    let buffer = av_buffer_create(
      data.assumingMemoryBound(to: UInt8.self), length,
      { length, data in munmap(data, Int(bitPattern: length)) },
      UnsafeMutableRawPointer(bitPattern: length), 0)
    if buffer == nil { munmap(data, length) }
    return buffer
  }

  /// Gives `frame` the buffer and points its planes into it, one after the other, with rows that begin at
  /// multiples of `alignment`. Returns a libavutil error code if no such frame is possible.
  static func put(
    _ frame: UnsafeMutablePointer<AVFrame>, on buffer: UnsafeMutablePointer<AVBufferRef>,
    format: AVPixelFormat, width: CInt, height: CInt, alignment: CInt
  ) -> CInt {
    frame.pointee.buf.0 = buffer
    let filled = withUnsafeMutablePointer(to: &frame.pointee.data) { data in
      withUnsafeMutablePointer(to: &frame.pointee.linesize) { lines in
        av_image_fill_arrays(
          UnsafeMutableRawPointer(data).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self),
          UnsafeMutableRawPointer(lines).assumingMemoryBound(to: CInt.self),
          buffer.pointee.data, format, width, height, alignment)
      }
    }
    // `data`, the array of plane pointers, is the first member of `AVFrame`.
    frame.pointee.extended_data = UnsafeMutableRawPointer(frame).assumingMemoryBound(
      to: UnsafeMutablePointer<UInt8>?.self)
    return filled
  }
}
