package import Orientation
package import OrientationSignals
package import UprightMediaIO

/// How an output that is copied says which way up its pictures are.
package struct OrientationMark: Sendable, Hashable {
  /// What its container says; nil: nothing, or upright.
  package var field: Muxer.OrientationField?
  /// What an SEI message says at every picture where decoding can start; nil: there is none.
  package var message: ImageOrientation?

  /// No word at all: upright.
  package init() {}

  /// The mark of `orientation` for `video` in libavformat's `muxer`.
  ///
  /// - Parameters:
  ///   - wantsMessage: whether the message is wanted beside the container's own field.
  ///   - isFile: whether the output can be gone back in when it is finished.
  /// - Throws: `usage` where neither container nor codec can say it.
  package init(
    _ orientation: ImageOrientation, for video: StreamInfo, muxer: String,
    wantsMessage: Bool, isFile: Bool
  ) throws(MediaError) {
    let codec = DisplayOrientationTracker.Codec(named: video.codecName)
    if wantsMessage && codec == nil {
      throw MediaError(
        .usage, "\(video.codecName) has no SEI messages", at: "--sei",
        remedy: "leave it out: only H.264 and HEVC have them")
    }
    guard orientation != .up else { return }
    field = Self.field(orientation, for: video, muxer: muxer, isFile: isFile)
    if field == nil || wantsMessage {
      guard codec != nil else {
        throw MediaError(
          .usage, "\(muxer) has no field for an orientation, and \(video.codecName) no message",
          at: video.isSpherical ? "a spherical video" : "-o",
          remedy: "write .mp4, .mov or .mkv, or let transcode turn the pixels")
      }
      message = orientation
    }
  }

  private static func field(
    _ orientation: ImageOrientation, for video: StreamInfo, muxer: String, isFile: Bool
  ) -> Muxer.OrientationField? {
    switch muxer {
    case "mp4", "mov":
      // Moved back to where it began, as phones do; in the track's own size, whose pixels are square.
      let stored = video.parameters.size
      let width = Double(stored.width) * video.sampleAspectRatio.doubleValue
      let size = PixelSize(Int(clamping: min(width, 1e6)), stored.height)
      return .matrix(DisplayMatrix(orientation, size: size) ?? DisplayMatrix(orientation))
    case "matroska", "webm":
      guard isFile, !video.isSpherical else { return nil }
      // A yaw of half a turn is a flip, and comes before the roll (RFC 9559, ProjectionPoseYaw).
      let clockwise = orientation.clockwiseDegrees
      return .projection(
        yaw: orientation.isMirrored ? 180 : 0, roll: clockwise > 180 ? 360 - clockwise : -clockwise)
    default: return nil
    }
  }

  /// Whether the finished file must still be put right.
  var needsRectangularProjection: Bool {
    if case .projection? = field { true } else { false }
  }

  /// What takes the source's messages out of the packets and puts the mark's in; nil for codecs
  /// without any.
  package func rewriter(for video: StreamInfo) -> DisplayOrientationRewriter? {
    DisplayOrientationTracker.Codec(named: video.codecName).map {
      DisplayOrientationRewriter(
        codec: $0, configuration: video.parameters.extradata, orientation: message)
    }
  }
}

extension DisplayOrientationTracker.Codec {
  /// The codec of FFmpeg's name; nil for one without display orientation messages.
  package init?(named name: String) {
    switch name {
    case "h264": self = .h264
    case "hevc": self = .hevc
    default: return nil
    }
  }
}
