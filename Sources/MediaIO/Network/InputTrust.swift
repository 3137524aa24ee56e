/// Which demuxers and protocols an input may use.
///
/// A file called clip.mp4 may hold an HLS playlist or an ffconcat script, and libavformat would open
/// whatever that names. So each kind of input gets its own lists, and nothing widens them.
package struct InputTrust: Sendable, Hashable {
  package let formats: String
  package let protocols: String

  /// Whether the input may be a playlist.
  var allowsPlaylists: Bool { formats.hasSuffix(",hls") }

  private static let containers =
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,mpeg,flv,live_flv,h264,hevc,ivf,obu,av1,avi,asf,"
    + "ogg,mxf,m4v,mpegvideo,mjpeg,yuv4mpegpipe,jpeg_pipe,png_pipe,webp_pipe,wav,mp3,aac,flac,gif"

  /// The lists for `url`: a plain file is a container and nothing else; a playlist may read files
  /// beside it; a network address may use its own protocol and those beneath it.
  package init(url: String) {
    let lower = url.lowercased()
    // What follows the name in a web address is no part of it.
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

  /// The demuxer for a still picture's file name; nil for any other name. Left to itself libavformat
  /// takes image2, which reads numbered series of files.
  package static func stillImageDemuxer(of url: String) -> String? {
    guard scheme(of: url) == nil, let dot = url.lastIndex(of: ".") else { return nil }
    return switch url[dot...].lowercased() {
    case ".jpg", ".jpeg": "jpeg_pipe"
    case ".png": "png_pipe"
    case ".webp": "webp_pipe"
    default: nil
    }
  }

  /// The scheme of a URL in lower case; nil for a path.
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
