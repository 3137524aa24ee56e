package import UprightOrientation
package import UprightSignals
package import UprightMediaIO

/// How an output with copied frames signals their orientation.
package struct OrientationMetadata: Sendable, Hashable {
  /// The container's field; `nil` if none is written, or the frames are upright.
  package var field: Muxer.OrientationField?
  /// The orientation in an SEI message at every random access point; `nil` if no message is written.
  package var message: ImageOrientation?

  /// Creates a mark that signals nothing: the frames are upright.
  package init() {}

  /// Creates the mark that signals `orientation` for `video` in libavformat's `muxer`.
  ///
  /// - Parameters:
  ///   - wantsMessage: Whether an SEI message is written in addition to the container's field.
  ///   - isFile: Whether the output is a seekable file that can be patched when it is finished.
  /// - Throws: `usage` if neither the container nor the codec can signal the orientation.
  package init(
    _ orientation: ImageOrientation, for video: StreamInfo, muxer: String,
    wantsMessage: Bool, isFile: Bool
  ) throws(UprightError) {
    let codec = DisplayOrientationTracker.Codec(named: video.codecName)
    if wantsMessage && codec == nil {
      throw UprightError(
        .usage, "\(video.codecName) has no SEI messages", at: "--sei",
        remedy: "remove --sei: only H.264 and HEVC have them")
    }
    guard orientation != .up else { return }
    field = Self.field(orientation, for: video, muxer: muxer, isFile: isFile)
    if field == nil || wantsMessage {
      guard codec != nil else {
        throw UprightError(
          .usage, "\(muxer) has no orientation field and \(video.codecName) no SEI message",
          at: video.isSpherical ? "a spherical video" : "-o",
          remedy: "write .mp4, .mov or .mkv, or use transcode to turn the pixels")
      }
      message = orientation
    }
  }

  private static func field(
    _ orientation: ImageOrientation, for video: StreamInfo, muxer: String, isFile: Bool
  ) -> Muxer.OrientationField? {
    switch muxer {
    case "mp4", "mov":
      // The matrix moves the turned frame back to the origin, as phones do, in the track's display size with
      // square pixels.
      let stored = video.parameters.size
      let width = Double(stored.width) * video.sampleAspectRatio.doubleValue
      let size = PixelSize(Int(clamping: min(width, 1e6)), stored.height)
      return .matrix(DisplayMatrix(orientation, size: size) ?? DisplayMatrix(orientation))
    case "matroska", "webm":
      guard isFile, !video.isSpherical else { return nil }
      // A yaw of 180 degrees is a flip. It is applied before the roll (RFC 9559, ProjectionPoseYaw).
      let clockwise = orientation.clockwiseDegrees
      return .projection(
        yaw: orientation.isMirrored ? 180 : 0, roll: clockwise > 180 ? 360 - clockwise : -clockwise)
    default: return nil
    }
  }

  /// Whether the finished file must be patched.
  var needsRectangularProjection: Bool {
    if case .projection? = field { true } else { false }
  }

  /// Returns a rewriter that removes the source's SEI messages from the packets and inserts the mark's; `nil`
  /// for codecs without such messages.
  package func rewriter(for video: StreamInfo) -> DisplayOrientationRewriter? {
    DisplayOrientationTracker.Codec(named: video.codecName).map {
      DisplayOrientationRewriter(
        codec: $0, configuration: video.parameters.extradata, orientation: message)
    }
  }
}

extension DisplayOrientationTracker.Codec {
  /// Creates the codec from FFmpeg's name; `nil` if the codec has no display orientation messages.
  package init?(named name: String) {
    switch name {
    case "h264": self = .h264
    case "hevc": self = .hevc
    default: return nil
    }
  }
}
