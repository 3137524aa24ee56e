/// The demuxers and protocols that an input may use.
///
/// A file named clip.mp4 may contain an HLS playlist or an ffconcat script, and libavformat would open
/// everything that it refers to. So each kind of input has a fixed list.
package struct InputTrust: Sendable, Hashable {
  package let formats: String
  package let protocols: String

  /// Whether the input may be a playlist.
  var allowsPlaylists: Bool { formats.hasSuffix(",hls") }

  private static let containers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,flv,live_flv,h264,hevc,ivf,obu,av1,avi,asf,"
    + "ogg,mxf,dv,m4v,mpegvideo,mjpeg,yuv4mpegpipe,jpeg_pipe,png_pipe,webp_pipe,wav,mp3,aac,flac,"
    + "gif,apng"

  /// The lists for `url`. A plain file may only be a container. A playlist may read files in its folder. A
  /// network address may use its protocol and the protocols below it.
  package init(url: String) {
    let lower = url.lowercased()
    // The query and the fragment of a web address aren't part of the file name.
    let name = lower.hasPrefix("http") ? String(lower.prefix { !"?#".contains($0) }) : lower
    let isPlaylist = name.hasSuffix(".m3u8") || name.hasSuffix(".m3u")
    let formats = Self.containers + (isPlaylist ? ",hls" : "")
    switch Self.scheme(of: lower) {
    case nil, "file":
      self.init(formats: formats, protocols: isPlaylist ? "file,crypto" : "file,pipe")
    case "pipe": self.init(formats: Self.containers, protocols: "pipe")
    case "http", "https":
      self.init(formats: formats, protocols: "http,https,tcp,tls,crypto,httpproxy")
    case "rtmp", "rtmps", "rtmpt", "rtmpe":
      self.init(
        formats: Self.containers,
        protocols: "rtmp,rtmps,rtmpt,rtmpe,tcp,tls,crypto,ffrtmpcrypt,ffrtmphttp,http")
    case "srt": self.init(formats: Self.containers, protocols: "srt")
    case "rtsp", "rtsps":
      self.init(formats: Self.containers + ",rtsp", protocols: "rtsp,rtp,udp,tcp,tls,crypto")
    case "udp": self.init(formats: Self.containers, protocols: "udp")
    case "tcp": self.init(formats: Self.containers, protocols: "tcp")
    default: self.init(formats: Self.containers, protocols: "none")
    }
  }

  private init(formats: String, protocols: String) {
    self.formats = formats
    self.protocols = protocols
  }

  /// Returns the demuxer for a still picture's file name, or `nil` for any other name. By default libavformat
  /// would use image2, which reads numbered series of files.
  package static func stillImageDemuxer(of url: String) -> String? {
    guard scheme(of: url) == nil, let dot = url.lastIndex(of: ".") else { return nil }
    return switch url[dot...].lowercased() {
    case ".jpg", ".jpeg": "jpeg_pipe"
    case ".png": "png_pipe"
    case ".webp": "webp_pipe"
    default: nil
    }
  }

  /// Returns the scheme of a URL in lower case, or `nil` for a path.
  package static func scheme(of url: String) -> String? {
    guard let colon = url.firstIndex(of: ":") else { return nil }
    let scheme = url[..<colon]
    guard scheme.count > 1, let first = scheme.utf8.first, (97...122).contains(first | 0x20),
      scheme.utf8.allSatisfy({
        (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 43 || $0 == 45 || $0 == 46
      }), url[colon...].hasPrefix("://") || scheme == "pipe"
    else { return nil }
    return scheme.lowercased()
  }
}
