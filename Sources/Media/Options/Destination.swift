package import UprightMediaIO

/// Who plays or edits the output (`--for`). It chooses what other options leave open, so that the output is right there:
/// docs/players.md has what was found of each.
public enum Destination: String, Sendable, CaseIterable, Codable {
  /// VLC 3.
  case vlc
  /// Chromium, Firefox and Safari.
  case browsers
  /// AVPlayer, QuickTime and Safari.
  case apple
  /// MediaCodec and players on it, such as ExoPlayer.
  case android
  /// GStreamer's demuxers and playbin.
  case gstreamer
  /// Video editors.
  case editors

  /// The codecs that it plays everywhere. Another codec of the input is encoded anew.
  package var codecs: [VideoCodec] {
    switch self {
    // Firefox before 134 and Chromium without hardware have no HEVC.
    case .browsers: [.h264, .av1, .vp9]
    // AV1 needs the hardware of recent devices.
    case .apple, .editors: [.h264, .hevc]
    // Android's compatibility definition has decoders of these three on every phone (section 5.1).
    case .android: [.h264, .hevc, .vp9]
    case .vlc, .gstreamer: VideoCodec.selectable
    }
  }

  /// The rate of the frames. Editors cut at the frames of a fixed rate, and sound drifts from a track without one.
  package var constantRate: ConstantRate? { self == .editors ? .usual : nil }

  /// Whether there is a keyframe each second: editors and scrubbing players decode from one.
  package var hasKeyframes: Bool { self == .editors }
}
