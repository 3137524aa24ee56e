/// The codecs that a session reads from FLV. It drops tags of others, so their publisher is told instead (Video File
/// Format Specification 10.1, E.4; Veovera, Enhanced RTMP v2, ExVideoTagHeader and ExAudioTagHeader).
enum AcceptedCodecs {
  private static let video = ["avc1", "hvc1", "av01", "vp08", "vp09"]
  private static let audio = ["mp4a", "Opus", ".mp3", "ac-3", "ec-3", "fLaC"]

  /// Returns why a tag can't be accepted; `nil` if it can.
  static func refusal(of kind: FLVTag.Kind, _ payload: some Collection<UInt8>) -> String? {
    guard let first = payload.first else { return nil }
    let code = String(decoding: payload.dropFirst().prefix(4), as: UTF8.self)
    // Several tracks, and packets that are modified, have their codec further on. A command has none.
    switch kind {
    case .video where first & 0x80 != 0:
      if first & 0x0F > 5 || first >> 4 & 7 == 5 || video.contains(code) { return nil }
      return "this codec is not accepted over RTMP: send H.264, HEVC, AV1, VP8 or VP9"
    case .audio where first >> 4 == 9:
      if first & 0x0F >= 5 || audio.contains(code) { return nil }
      return "this audio codec is not accepted over RTMP: send AAC, Opus, MP3, AC-3, E-AC-3 or FLAC"
    default: return nil
    }
  }

  /// Returns whether a tag may hold several tracks (Enhanced RTMP v2, "Multitrack").
  static func isMultitrack(_ kind: FLVTag.Kind, _ payload: some Collection<UInt8>) -> Bool {
    guard let first = payload.first else { return false }
    return kind == .video && first & 0x80 != 0 && first & 0x0F == 6
      || kind == .audio && first == 0x95
  }
}
