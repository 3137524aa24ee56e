internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

extension SessionPlan {
  /// The duration of the input's video; `nil` if unknown.
  var duration: MediaTime? { video.duration ?? demuxer.container.duration }

  /// The duration of the requested part; `nil` if unknown.
  var partDuration: MediaTime? {
    (end ?? duration).map { min($0, duration ?? $0) - (start ?? .zero) }
  }

  /// The position of the media timeline's zero on the container's timeline.
  var zero: MediaTime { video.startTime.map { MediaTime($0, video.timeBase) } ?? .zero }

  /// Where the output begins on the media timeline; `nil` for the start of the input.
  var start: MediaTime? { options.start.map { MediaTime(seconds: $0) } }

  /// Where the output ends on the media timeline; `nil` for the end of the input.
  var end: MediaTime? { options.end.map { MediaTime(seconds: $0) } }

  /// When the first frame of the output was shot, by the container; `nil` if it doesn't say.
  var date: CalendarTime? {
    demuxer.container.metadata["creation_time"].flatMap { CalendarTime($0) }
      .map { $0 + (start ?? .zero).seconds }
  }
}
