internal import CFFmpeg
internal import CFFmpegShims
internal import Glibc

/// The FFmpeg libraries this process works with.
package enum Libraries {
  /// Name and version of each, such as `libavcodec 59.37.100`.
  package static var versions: [String] {
    func text(_ name: String, _ version: CUnsignedInt) -> String {
      "\(name) \(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
    let filters = CUnsignedInt(
      LIBAVFILTER_VERSION_MAJOR << 16 | LIBAVFILTER_VERSION_MINOR << 8 | LIBAVFILTER_VERSION_MICRO)
    return [
      text("libavformat", avformat_version()), text("libavcodec", avcodec_version()),
      // The headers' own: asking the library would load it.
      text("libavfilter", filters), text("libavutil", avutil_version()),
      text("libswscale", swscale_version()), text("libswresample", swresample_version()),
    ]
  }

  /// FFmpeg's own release, such as `5.1.9-0+deb12u1`.
  package static var release: String { String(cString: av_version_info()) }

  /// Routes the libraries' log lines: errors go into our own messages; with `verbose` they are also
  /// written to standard error as they come. For a process to call once, at its start.
  package static func installLog(verbose: Bool) {
    // SVT-AV1 writes to standard error by itself, and is told so by its environment only.
    if !verbose { setenv("SVT_LOG", "0", 0) }
    upright_log_install(verbose ? AV_LOG_INFO : AV_LOG_QUIET)
  }
}
