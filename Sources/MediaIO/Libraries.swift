internal import CFFmpeg
internal import CFFmpegShims
internal import Glibc

/// The FFmpeg libraries that this process uses.
package enum Libraries {
  /// The name and version of each library, such as `libavcodec 59.37.100`.
  package static var versions: [String] {
    func text(_ name: String, _ version: CUnsignedInt) -> String {
      "\(name) \(version >> 16).\(version >> 8 & 255).\(version & 255)"
    }
    let filters = CUnsignedInt(
      LIBAVFILTER_VERSION_MAJOR << 16 | LIBAVFILTER_VERSION_MINOR << 8 | LIBAVFILTER_VERSION_MICRO)
    return [
      text("libavformat", avformat_version()), text("libavcodec", avcodec_version()),
      // The version in the headers. Asking the library would load it.
      text("libavfilter", filters), text("libavutil", avutil_version()),
      text("libswscale", swscale_version()), text("libswresample", swresample_version()),
    ]
  }

  /// FFmpeg's release, such as `5.1.9-0+deb12u1`.
  package static var release: String { String(cString: av_version_info()) }

  /// Installs the log callback of the libraries. Errors become part of this package's messages. With
  /// `verbose`, all log lines are also written to standard error. Call it once, when the process starts.
  package static func installLog(verbose: Bool) {
    // SVT-AV1 writes to standard error itself. Only its environment variable turns that off.
    if !verbose { setenv("SVT_LOG", "0", 0) }
    upright_log_install(verbose ? AV_LOG_INFO : AV_LOG_QUIET)
  }
}
