internal import CUprightFFmpeg

/// Creates contexts of FFmpeg's libraries whose messages the default log callback doesn't print, so that
/// nothing is written to the host's standard error and nothing global is changed for it.
///
/// `av_log` adds an integer in the context to the level of its messages, if the context's class says where it
/// is. The callback of `LogScope` subtracts it again. Contexts that libavformat creates itself
/// print as before: those of sockets, of a playlist's entries, and of its parsers.
enum QuietContext {
  // Contexts of libavformat have no such integer, so their class is replaced by a copy that gives another
  // one's position: an option of muxers in a demuxer, and of demuxers in a muxer.
  nonisolated(unsafe) private static let demuxer = quiet(\.max_chunk_size)
  nonisolated(unsafe) private static let muxer = quiet(\.format_probesize)

  private static func quiet(
    _ field: KeyPath<AVFormatContext, CInt>
  ) -> UnsafeMutablePointer<AVClass>? {
    guard let offset = MemoryLayout<AVFormatContext>.offset(of: field),
      let original = avformat_get_class()
    else { return nil }
    let copy = UnsafeMutablePointer<AVClass>.allocate(capacity: 1)
    copy.initialize(to: original.pointee)
    copy.pointee.log_level_offset_offset = CInt(clamping: offset)
    // The copy has the fields of the headers, which may be older than the library.
    copy.pointee.version =
      LIBAVUTIL_VERSION_MAJOR << 16 | LIBAVUTIL_VERSION_MINOR << 8 | LIBAVUTIL_VERSION_MICRO
    return copy
  }

  /// Returns a new context for `codec`, or for no codec yet. Returns `nil` if there is no memory.
  static func codec(
    _ codec: UnsafePointer<AVCodec>?
  ) -> UnsafeMutablePointer<AVCodecContext>? {
    let context = avcodec_alloc_context3(codec)
    context?.pointee.log_level_offset = LogScope.quietOffset
    return context
  }

  /// Returns a new context for a demuxer. Returns `nil` if there is no memory.
  static func input() -> UnsafeMutablePointer<AVFormatContext>? {
    let context = avformat_alloc_context()
    if let demuxer {
      context?.pointee.av_class = UnsafePointer(demuxer)
      context?.pointee.max_chunk_size = LogScope.quietOffset
    }
    return context
  }

  /// Creates a context for the muxer of `format`, which writes to `address`. Returns a negative error code if
  /// there is no such muxer.
  static func output(
    _ context: inout UnsafeMutablePointer<AVFormatContext>?, format: String, address: String?
  ) -> CInt {
    let code = avformat_alloc_output_context2(&context, nil, format, address)
    if let muxer {
      context?.pointee.av_class = UnsafePointer(muxer)
      context?.pointee.format_probesize = LogScope.quietOffset
    }
    return code
  }
}
