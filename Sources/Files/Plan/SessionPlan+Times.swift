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

  /// Where the output begins and ends on the container's timeline, as `start` and `end`.
  var bounds: (start: MediaTime?, end: MediaTime?) {
    (start.map { zero + $0 }, end.map { zero + $0 })
  }

  /// The chapters of the requested part.
  var chapters: [Demuxer.Chapter] {
    let (from, until) = bounds
    return demuxer.container.chapters.compactMap { chapter in
      let start = max(chapter.start, from ?? chapter.start)
      let end = min(chapter.end, until ?? chapter.end)
      guard start < end || start == chapter.start && end == chapter.end else { return nil }
      let shift = from ?? .zero
      return Demuxer.Chapter(start: start - shift, end: end - shift, metadata: chapter.metadata)
    }
  }

  /// When the first frame of the output was shot, by the container; `nil` if it doesn't say.
  var date: CalendarTime? {
    demuxer.container.metadata["creation_time"].flatMap { CalendarTime($0) }
      .map { $0 + (start ?? .zero).seconds }
  }
}
