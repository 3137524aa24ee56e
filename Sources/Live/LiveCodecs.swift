internal import UprightOrientation
internal import UprightMediaIO

/// The codecs that are accepted from untrusted streams. This is a subset of what libavcodec supports.
enum LiveCodecs {
  static let video = [
    "h264", "hevc", "av1", "libdav1d", "libaom-av1", "vp8", "vp9", "libvpx", "libvpx-vp9",
    "mpeg1video", "mpeg2video", "mpeg4", "mjpeg",
  ]
  static let audio = [
    "aac", "aac_latm", "mp3", "mp3float", "mp2", "mp2float", "mp1", "mp1float", "ac3", "eac3",
    "opus", "libopus", "vorbis", "flac", "alac", "speex", "libspeex", "nellymoser", "pcm_alaw",
    "pcm_mulaw", "pcm_s16le", "pcm_s16be", "pcm_u8", "adpcm_swf", "adpcm_g722", "g722",
    "adpcm_g726", "g726", "adpcm_g726le", "g726le",
  ]

  /// The names of all accepted codecs, and of FLV script data.
  static let names = video + audio + ["text"]

  /// - Throws: `badData` if one of the streams is video that the linked FFmpeg doesn't know as such: AV1, which MPEG-TS marks by
  ///   a registration descriptor.
  static func checkUnread(_ streams: [StreamInfo], at location: String) throws(UprightError) {
    guard streams.contains(where: { $0.codecLabel == "AV01" }) else { return }
    throw UprightError(
      .badData, "AV1 in MPEG-TS can't be read by the linked FFmpeg", at: location,
      remedy: "send H.264 or HEVC, or AV1 by RTMP or WHIP")
  }

  /// - Throws: `badData` if the stream's codec is not accepted.
  static func check(_ stream: StreamInfo, at location: String) throws(UprightError) {
    guard (video + audio).contains(stream.codecName) else {
      throw UprightError(
        .badData, "\(stream.codecLabel) is not supported in a live input", at: location,
        remedy: "send H.264, HEVC, AV1, VP8 or VP9, and AAC, Opus or MP3")
    }
  }
}
