/// The codecs that the FLV demuxer reads. libavformat silently drops tags of others, so their publisher is told instead.
struct AcceptedCodecs: Sendable {
  /// Whether the demuxer reads the video codecs of enhanced RTMP: libavformat 6.1 and later.
  let hasEnhanced: Bool

  /// Returns why a tag can't be accepted; `nil` if it can (Veovera, Enhanced RTMP v2, ExVideoTagHeader and
  /// ExAudioTagHeader).
  func refusal(of kind: FLVTag.Kind, _ payload: some Collection<UInt8>) -> String? {
    guard let first = payload.first else { return nil }
    let code = String(decoding: payload.dropFirst().prefix(4), as: UTF8.self)
    switch kind {
    case .video where first & 0x80 != 0: return video(first, code)
    // The number that many encoders use for HEVC, in each release.
    case .video where first & 0x0F == 12: return refused("HEVC without enhanced RTMP")
    case .audio where first >> 4 == 9: return audio(first, code)
    default: return nil
    }
  }

  private static let multitrack = """
    several tracks in one connection (enhanced RTMP, multitrack) are not accepted: send one video and one audio \
    track
    """

  private func video(_ first: UInt8, _ code: String) -> String? {
    // A command, such as the start of a seek, has no codec.
    if first >> 4 & 7 == 5 { return nil }
    switch first & 0x0F {
    case 6: return Self.multitrack
    case 7: return refused("the packet type ModEx of enhanced RTMP")
    default: break
    }
    if hasEnhanced, ["hvc1", "av01", "vp09"].contains(code) { return nil }
    let names = ["hvc1": "HEVC", "av01": "AV1", "vp09": "VP9", "avc1": "H.264 as enhanced RTMP"]
    return refused(names[code] ?? "this codec")
  }

  private func refused(_ codec: String) -> String {
    "\(codec) is not accepted over RTMP: send H.264"
      + (hasEnhanced ? ", or HEVC, AV1 or VP9 as enhanced RTMP" : "")
  }

  private func audio(_ first: UInt8, _ code: String) -> String {
    if first & 0x0F == 5 { return Self.multitrack }
    let names = [
      "Opus": "Opus", "fLaC": "FLAC", "ac-3": "AC-3", "ec-3": "E-AC-3", ".mp3": "MP3",
      "mp4a": "AAC",
    ]
    return "\(names[code] ?? "this audio codec") as enhanced RTMP is not accepted: send AAC"
  }
}
