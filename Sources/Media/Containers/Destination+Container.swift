internal import UprightMediaIO

extension Destination {
  /// The containers that it plays, the usual one first.
  package var containers: [OutputContainer] {
    switch self {
    case .vlc, .gstreamer:
      [.mp4, .mov, .hls, .hlsTS, .mpegts, .matroska, .webm, .flv, .y4m, .rtsp]
    // HLS needs a script such as hls.js, but in Safari and recent versions of Chromium.
    case .browsers: [.mp4, .hls, .webm]
    case .apple: [.mp4, .mov, .hls, .hlsTS]
    case .android: [.mp4, .hls, .hlsTS, .matroska, .webm, .mpegts]
    case .editors: [.mov, .mp4]
    }
  }

  /// Returns whether the format must not change in a container that can change it.
  package func needsOneFormat(in container: OutputContainer) -> Bool {
    switch self {
    case .editors: true
    // Stands for a second where the format changes, and in HLS leaves out as much before it.
    case .vlc: container.isSegmented || [.mpegts, .flv].contains(container)
    // One size in the header of MP4 counts for all formats.
    case .gstreamer: [.mp4, .mov].contains(container)
    case .browsers, .apple, .android: false
    }
  }

  /// Returns what it decides, as a text for the user.
  package func explanation(in container: OutputContainer) -> String {
    let parts = [
      container.rawValue, needsOneFormat(in: container) ? "one canvas" : nil,
      codecs.count < VideoCodec.selectable.count
        ? "one of " + codecs.map(\.rawValue).joined(separator: ", ") : nil,
      constantRate == nil ? nil : "a constant frame rate",
      hasKeyframes ? "a keyframe each second" : nil,
    ]
    return "\(rawValue): " + parts.compactMap(\.self).joined(separator: ", ")
  }
}
