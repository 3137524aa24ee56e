internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Synchronization

/// The versions of the FFmpeg libraries that this process uses.
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

  /// A structure, because a generic type wraps a bare function anew each time it is accessed: after a thousand
  /// lines it would be called through a thousand others.
  private struct Sink: Sendable {
    let write: @Sendable (CInt, String) -> Void
  }

  private static let sink = Mutex<Sink?>(nil)

  /// Installs the log callback of the libraries, for the whole process: lines at or below `level` (`AV_LOG_...`)
  /// go to `sink`, on any thread. Errors become part of this package's messages too.
  package static func installLog(
    upTo level: CInt, to sink: @escaping @Sendable (_ level: CInt, _ line: String) -> Void
  ) {
    self.sink.withLock { $0 = Sink(write: sink) }
    upright_log_install(level) { level, line in
      guard let line, let sink = Libraries.sink.withLock({ $0 }) else { return }
      sink.write(level, String(cString: line))
    }
  }
}
