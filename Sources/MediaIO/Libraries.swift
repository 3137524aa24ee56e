internal import CFFmpeg
internal import CFFmpegShims
internal import Glibc

/// The FFmpeg libraries this process is linked with.
package enum Libraries {
  /// Name and version of each, such as `libavcodec 59.37.100`.
  package static var versions: [String] {
    func text(_ name: String, _ version: CUnsignedInt) -> String {
      "\(name) \(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
    return [
      text("libavformat", avformat_version()), text("libavcodec", avcodec_version()),
      text("libavfilter", avfilter_version()), text("libavutil", avutil_version()),
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
