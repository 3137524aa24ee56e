internal import Orientation
internal import UprightMediaIO
internal import UprightPipeline

extension SessionPlan {
  /// The duration of the input's video in seconds; `nil` if unknown.
  var duration: Double? { video.duration ?? demuxer.container.duration }

  /// The duration of the requested part in seconds; `nil` if unknown.
  var partDuration: Double? {
    (options.end ?? duration).map { min($0, duration ?? $0) - (options.start ?? 0) }
  }

  /// The position of the media timeline's zero on the container's timeline, in seconds.
  var startSeconds: Double {
    video.startTime.map { Double($0) * video.timeBase.doubleValue } ?? 0
  }
}
