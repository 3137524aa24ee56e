internal import CFFmpeg
internal import Glibc

/// Where the samples of pictures live: big pictures on huge pages. What turns a picture, or decodes one
/// that moves, goes from row to row, and with pages of 4 KiB nearly every row is another page, to be
/// looked up anew (a TLB miss) and to be brought in first (a page fault).
enum FrameMemory {
  /// The usual huge page of x86-64 and AArch64.
  private static let hugePage = 2 << 20

  /// Whether a picture of so many bytes gets huge pages: one that fills at least one.
  static func isHuge(_ bytes: Int) -> Bool { bytes >= hugePage }

  /// For `av_buffer_pool_init`: so many bytes, aligned to 64; nil where there is no memory.
  static let allocate: @convention(c) (Int) -> UnsafeMutablePointer<AVBufferRef>? = { bytes in
    isHuge(bytes) ? mapped(bytes) : av_buffer_alloc(bytes)
  }

  /// Memory from the system, zeroed, that begins with a huge page; what does not fill one at its end
  /// is on usual pages. Where the system has no huge pages it is as good as any other.
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

  /// Gives `frame` the buffer and points its planes into it: one behind the other, rows that begin at
  /// multiples of `alignment`. An error of libavutil's where there is no such picture.
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
    // The planes come first in a frame.
    frame.pointee.extended_data = UnsafeMutableRawPointer(frame).assumingMemoryBound(
      to: UnsafeMutablePointer<UInt8>?.self)
    return filled
  }
}
