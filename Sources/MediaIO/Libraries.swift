internal import CUprightFFmpeg

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
}
