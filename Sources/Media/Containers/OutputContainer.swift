public import UprightOrientation
package import UprightMediaIO

/// An output container, chosen by the extension of the file or the scheme of the URL.
public enum OutputContainer: String, Sendable, CaseIterable {
  /// MP4 (ISO/IEC 14496-14).
  case mp4
  /// QuickTime.
  case mov
  /// HLS with fragmented MP4 segments (RFC 8216).
  case hls
  /// MPEG-TS (ISO/IEC 13818-1).
  case mpegts
  /// FLV.
  case flv
  /// Matroska (RFC 9559).
  case matroska
  /// WebM.
  case webm
  /// YUV4MPEG2, uncompressed.
  case y4m
  /// HLS with MPEG-TS segments instead of fragmented MP4.
  case hlsTS = "hls-ts"
  /// RTP over the one TCP connection of an RTSP session (RFC 2326), which is announced to a server.
  case rtsp

  /// The container for the name of `target`.
  ///
  /// - Parameters:
  ///   - target: The output: a path, a URL, or `-` for standard output.
  ///   - format: The container's name or usual extension, required for `-`; `nil` for what `target` says.
  /// - Throws: `usage` if neither the name nor `format` names a container.
  public init(target: String, format: String? = nil) throws(UprightError) {
    if let format {
      self = try Self.named(format)
      return
    }
    switch InputTrust.scheme(of: target) {
    case "rtmp", "rtmps": self = .flv
    case "rtsp": self = .rtsp
    case "srt", "udp", "tcp", "rtp": self = .mpegts
    default:
      guard target != "-" else {
        throw UprightError(
          .usage, "standard output needs --format", at: target, remedy: "add --format mpegts")
      }
      let name = FilePath(target).fileExtension
      guard !name.isEmpty else {
        throw UprightError(
          .usage, "the output's name has no extension", at: target,
          remedy: "add an extension such as .mp4, .m3u8 or .ts, or add --format")
      }
      self = try Self.named(name)
    }
  }

  private static func named(_ word: String) throws(UprightError) -> Self {
    switch word.lowercased() {
    case "mp4", "m4v": .mp4
    case "mov": .mov
    case "m3u8", "hls": .hls
    case "ts", "mpegts", "m2ts": .mpegts
    case "flv": .flv
    case "mkv", "matroska": .matroska
    case "webm": .webm
    case "y4m", "yuv4mpegpipe": .y4m
    default:
      throw UprightError(
        .usage, "\(word) is not an output container", at: word,
        remedy: "use mp4, mov, m3u8, ts, flv, mkv, webm or y4m")
    }
  }

  /// Returns the container with the given segment kind; unchanged if it has no segments.
  package func with(_ segments: SegmentKind) -> Self {
    self == .hls && segments == .ts ? .hlsTS : self
  }

  /// Whether the output is a playlist with segments.
  package var isSegmented: Bool { self == .hls || self == .hlsTS }

  /// Returns a writer of its segments, if it is a playlist with segments.
  package func makeSegments() -> any HLSSegments {
    self == .hls ? FragmentedSegments() : TransportSegments()
  }

  /// The name of libavformat's muxer.
  package var muxer: String {
    switch self {
    case .hls: "mp4"
    case .hlsTS: "mpegts"
    case .y4m: "yuv4mpegpipe"
    default: rawValue
    }
  }

  /// Whether the container lists its keyframes. In others, players that seek or join look for the next one.
  package var hasIndex: Bool {
    switch self {
    case .mp4, .mov, .hls, .hlsTS, .matroska, .webm, .y4m: true
    case .mpegts, .flv, .rtsp: false
    }
  }

  /// Whether the format may change mid-stream.
  package var canFollow: Bool {
    switch self {
    case .mp4, .mov, .hls, .hlsTS, .mpegts, .flv, .rtsp: true
    case .matroska, .webm, .y4m: false
    }
  }

  /// The canvas rule for `--canvas auto`.
  package var defaultCanvas: CanvasRule {
    switch self {
    case .hls, .hlsTS, .mpegts, .flv, .rtsp: .follow
    case .mp4, .mov, .matroska, .webm, .y4m: .majority
    }
  }

  /// Whether the default size is that of the streaming guidance rather than the source's size.
  package var isStreaming: Bool { defaultCanvas == .follow }

  /// Whether the container stores chapters.
  package var hasChapters: Bool { [.mp4, .mov, .matroska, .webm].contains(self) }

  /// Whether parameter sets are stored apart from the packets.
  package var wantsGlobalHeader: Bool { muxer != "mpegts" && self != .y4m }

  /// Returns the tags of a track that are kept. QuickTime and MP4 store the title of a track in the handler's
  /// name.
  package func trackTags(_ tags: [String: String]) -> [String: String] {
    var kept = tags.filter { ["language", "title"].contains($0.key) }
    kept["language"] = kept["language"].map(language)
    if self == .mp4 || self == .mov { kept["handler_name"] = tags["title"] ?? tags["handler_name"] }
    return kept
  }

  /// The default codec.
  package var defaultCodec: VideoCodec {
    switch self {
    case .webm: .vp9
    case .y4m: .raw
    default: .h264
    }
  }

  /// Audio codecs (FFmpeg's names) that are copied and that players expect in the container.
  private var audioCodecs: Set<String> {
    switch self {
    case .mp4: ["aac", "mp3", "ac3", "eac3", "opus", "flac", "alac"]
    case .mov:
      [
        "aac", "mp3", "ac3", "eac3", "alac", "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be",
        "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le", "pcm_f32be", "pcm_f64le",
        "pcm_f64be", "pcm_alaw", "pcm_mulaw",
      ]
    // AC-3's description can't be written before its first packet, and browsers don't play it. hls.js asks them for MP3 by a
    // name that Chromium doesn't know.
    case .hls: ["aac"]
    case .hlsTS: ["aac", "mp3", "ac3", "eac3"]
    case .mpegts: ["aac", "mp3", "mp2", "ac3", "eac3"]
    case .flv: ["aac", "mp3"]
    case .rtsp: ["aac", "opus"]
    case .matroska:
      [
        "aac", "mp3", "mp2", "ac3", "eac3", "opus", "flac", "vorbis", "alac", "dts", "truehd",
        "pcm_u8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be",
        "pcm_f32le", "pcm_f64le", "pcm_alaw", "pcm_mulaw", "adpcm_ms",
      ]
    case .webm: ["opus", "vorbis"]
    case .y4m: []
    }
  }

  /// Returns whether audio in `codec` is copied.
  package func copiesAudio(_ codec: String) -> Bool { audioCodecs.contains(codec) }

  /// Returns whether audio that an edit list cuts is still cut if its packets are copied.
  package func keeps(_ editing: StreamInfo.Editing) -> Bool {
    switch editing {
    case .none: true
    case .start: self == .mp4 || self == .mov
    case .cut, .rate: false
    }
  }

  /// FFmpeg's encoder for audio that can't be copied; `nil` if the container stores no audio.
  package var audioEncoder: String? {
    switch self {
    case .y4m: nil
    case .webm: "libopus"
    default: "aac"
    }
  }

  /// Returns whether subtitles in `codec` are copied.
  package func copiesSubtitles(_ codec: String) -> Bool {
    switch self {
    case .mp4, .mov: codec == "mov_text"
    case .matroska:
      [
        "subrip", "ass", "ssa", "webvtt", "dvd_subtitle", "dvb_subtitle", "hdmv_pgs_subtitle",
      ].contains(codec)
    case .mpegts: ["dvb_subtitle", "dvb_teletext"].contains(codec)
    case .webm: codec == "webvtt"
    default: false
    }
  }

  /// FFmpeg's encoder for text subtitles that can't be copied; `nil` if the container stores none.
  package var subtitleEncoder: String? {
    switch self {
    case .mp4, .mov: "mov_text"
    case .matroska: "subrip"
    case .webm: "webvtt"
    default: nil
    }
  }

  /// Returns whether the container stores a cover picture in `codec` besides the video track. libavformat writes none to MOV.
  package func acceptsCover(_ codec: String) -> Bool {
    self == .mp4 && (codec == "mjpeg" || codec == "png")
  }

  /// Returns whether the container stores a stream as an attachment: in Matroska, a font or a cover picture.
  package func isAttachment(_ stream: StreamInfo) -> Bool {
    self == .matroska && (stream.kind == .attachment || stream.isAttachedPicture)
  }

  /// The maximum number of audio tracks.
  package var audioTrackLimit: Int { isSegmented || self == .flv || self == .rtsp ? 1 : .max }

  /// Returns whether the container may carry `codec`. WebM can't carry H.264, and FLV carries nothing else.
  package func canCarry(_ codec: VideoCodec) -> Bool {
    switch self {
    case .y4m: codec == .raw
    case .mpegts, .rtsp: codec == .h264 || codec == .hevc
    case .hls: codec != .vp9 && codec != .raw
    // Apple's players take HEVC in fMP4 segments only.
    case .hlsTS: codec == .h264
    // libavformat 6.1 and later also writes the codecs of Enhanced RTMP, but few players and servers read
    // them.
    case .flv: codec == .h264
    default: codec != .raw && Muxer.canCarry(codec, format: muxer)
    }
  }
}
