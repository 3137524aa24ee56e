internal import Foundation
public import UprightMediaIO
public import UprightPipeline

/// A kind of output, chosen by the name of the file or by the scheme of the URL.
public enum OutputContainer: String, Sendable, CaseIterable {
  case mp4, mov, hls, mpegts, flv, matroska, webm, y4m
  /// HLS whose segments are MPEG-TS rather than fragmented MP4.
  case hlsTS = "hls-ts"

  /// The kind that `target`'s name asks for.
  ///
  /// - Parameter format: the `--format` word, needed for `-`.
  /// - Throws: `usage` for a name that says nothing.
  public init(target: String, format: String? = nil) throws(MediaError) {
    if let format {
      self = try Self.named(format)
      return
    }
    switch InputTrust.scheme(of: target) {
    case "rtmp", "rtmps": self = .flv
    case "srt", "udp", "tcp", "rtp": self = .mpegts
    default:
      guard target != "-" else {
        throw MediaError(
          .usage, "standard output needs a container", at: "-o -", remedy: "add --format mpegts")
      }
      let name = URL(fileURLWithPath: target).pathExtension
      guard !name.isEmpty else {
        throw MediaError(
          .usage, "the output's name does not say its container", at: target,
          remedy: "end it with .mp4, .m3u8, .ts or the like, or add --format")
      }
      self = try Self.named(name)
    }
  }

  private static func named(_ word: String) throws(MediaError) -> Self {
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
      throw MediaError(
        .usage, "no output container is called \(word)", at: word,
        remedy: "use mp4, mov, m3u8, ts, flv, mkv, webm or y4m")
    }
  }

  /// The same with the segments that are asked for, where there are segments.
  package func with(_ segments: SegmentKind) -> Self {
    self == .hls && segments == .ts ? .hlsTS : self
  }

  /// Whether it is a playlist with segments.
  package var isSegmented: Bool { self == .hls || self == .hlsTS }

  /// libavformat's muxer.
  package var muxer: String {
    switch self {
    case .hls: "mp4"
    case .hlsTS: "mpegts"
    case .y4m: "yuv4mpegpipe"
    default: rawValue
    }
  }

  /// Whether the format may change in mid-stream.
  public var canFollow: Bool {
    switch self {
    case .mp4, .mov, .hls, .hlsTS, .mpegts, .flv: true
    case .matroska, .webm, .y4m: false
    }
  }

  /// What `--canvas auto` means.
  public var defaultCanvas: CanvasRule {
    switch self {
    case .hls, .hlsTS, .mpegts, .flv: .follow
    case .mp4, .mov, .matroska, .webm, .y4m: .majority
    }
  }

  /// Whether the default size is the streaming guidance's rather than the source's.
  public var isStreaming: Bool { defaultCanvas == .follow }

  /// Whether parameter sets stand apart from the packets.
  package var wantsGlobalHeader: Bool { muxer != "mpegts" && self != .y4m }

  /// What of a track's tags goes over; a handler's name is QuickTime's, and what a track is called
  /// there.
  package func trackTags(_ tags: [String: String]) -> [String: String] {
    var kept = tags.filter { ["language", "title"].contains($0.key) }
    kept["language"] = kept["language"].map(language)
    if self == .mp4 || self == .mov { kept["handler_name"] = tags["title"] ?? tags["handler_name"] }
    return kept
  }

  /// The codec where none is asked for.
  package var defaultCodec: VideoCodec {
    switch self {
    case .webm: .vp9
    case .y4m: .raw
    default: .h264
    }
  }

  /// Sound codecs (FFmpeg's names) that go in as they are and that players expect there.
  private var soundCodecs: Set<String> {
    switch self {
    case .mp4: ["aac", "mp3", "ac3", "eac3", "opus", "flac", "alac"]
    case .mov: ["aac", "mp3", "ac3", "eac3", "alac", "pcm_s16le", "pcm_s16be", "pcm_s24le"]
    // AC-3's description cannot be written before its first packet, and browsers do not play it.
    case .hls: ["aac", "mp3"]
    case .hlsTS: ["aac", "mp3", "ac3", "eac3"]
    case .mpegts: ["aac", "mp3", "mp2", "ac3", "eac3"]
    case .flv: ["aac", "mp3"]
    case .matroska:
      [
        "aac", "mp3", "mp2", "ac3", "eac3", "opus", "flac", "vorbis", "alac", "dts", "pcm_s16le",
        "pcm_s24le",
      ]
    case .webm: ["opus", "vorbis"]
    case .y4m: []
    }
  }

  /// Whether sound of `codec` is copied.
  package func copiesSound(_ codec: String) -> Bool { soundCodecs.contains(codec) }

  /// FFmpeg's encoder for sound that cannot be copied; nil where the container takes no sound.
  package var soundEncoder: String? {
    switch self {
    case .y4m: nil
    case .webm: "libopus"
    default: "aac"
    }
  }

  /// Whether subtitles of `codec` are copied.
  package func copiesSubtitles(_ codec: String) -> Bool {
    switch self {
    case .mp4, .mov: codec == "mov_text"
    case .matroska:
      ["subrip", "ass", "ssa", "webvtt", "dvd_subtitle", "hdmv_pgs_subtitle"].contains(codec)
    case .webm: codec == "webvtt"
    default: false
    }
  }

  /// FFmpeg's encoder for subtitles of text that cannot be copied; nil where the container takes none.
  package var subtitleEncoder: String? {
    switch self {
    case .mp4, .mov: "mov_text"
    case .matroska: "subrip"
    case .webm: "webvtt"
    default: nil
    }
  }

  /// Whether a cover picture in `codec` goes in beside the track of pictures.
  package func takesCover(_ codec: String) -> Bool {
    (self == .mp4 || self == .mov) && (codec == "mjpeg" || codec == "png")
  }

  /// How many sound tracks go in.
  package var soundTracks: Int { isSegmented || self == .flv ? 1 : .max }

  /// Whether `codec` may go in; H.264 in WebM, and anything else in FLV, may not.
  package func canCarry(_ codec: VideoCodec) -> Bool {
    switch self {
    case .y4m: codec == .raw
    case .mpegts: codec == .h264 || codec == .hevc
    case .hls: codec != .vp9 && codec != .raw
    // Apple's players take HEVC in fMP4 segments only.
    case .hlsTS: codec == .h264
    // libavformat 6.1 and later also write Enhanced RTMP's codecs, which few players and servers read.
    case .flv: codec == .h264
    default: codec != .raw && Muxer.canCarry(codec, format: muxer)
    }
  }
}
