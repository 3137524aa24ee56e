/// What may change when a media playlist is loaded again.
extension PlaylistRule {
  static let reloads = [
    PlaylistRule(
      reload: "sequence-forward", "8216bis, 6.2.2", "EXT-X-MEDIA-SEQUENCE doesn't decrease."
    ) { old, new, report in
      if new.mediaSequence < old.mediaSequence {
        report(
          new.first("EXT-X-MEDIA-SEQUENCE")?.line,
          "EXT-X-MEDIA-SEQUENCE went from \(old.mediaSequence) to \(new.mediaSequence)")
      }
    },
    PlaylistRule(
      reload: "same-segments", "8216bis, 6.2.1",
      "A segment keeps its URI, duration, map, date and byte range, and its parts."
    ) { old, new, report in
      guard old.isMedia, new.isMedia else { return }
      let before = Dictionary(old.segments.map { ($0.sequence, $0) }) { first, _ in first }
      for segment in new.segments {
        guard let known = before[segment.sequence] else { continue }
        var changes: [String] = []
        if known.uri != segment.uri { changes.append("URI") }
        if known.durationText != segment.durationText { changes.append("duration") }
        // After EXT-X-SKIP, a map or a date may have been skipped.
        if old.skipped == 0, new.skipped == 0, known.map != segment.map { changes.append("map") }
        if known.date != segment.date, old.skipped == 0, new.skipped == 0 { changes.append("date") }
        if known.byteRange?.value != segment.byteRange?.value { changes.append("byte range") }
        if known.isGap != segment.isGap { changes.append("gap") }
        if !changes.isEmpty {
          report(
            segment.line,
            "segment \(segment.sequence) has another \(changes.joined(separator: ", "))")
        }
      }
    },
    PlaylistRule(
      reload: "same-discontinuities", "8216bis, 6.2.2",
      "A segment keeps its discontinuity sequence number: EXT-X-DISCONTINUITY-SEQUENCE counts those removed."
    ) { old, new, report in
      // What a delta update skips may hide discontinuities.
      guard old.isMedia, new.isMedia, old.skipped == 0, new.skipped == 0 else { return }
      let before = Dictionary(
        old.allSegments.map { ($0.sequence, $0.discontinuity) }
      ) { first, _ in first }
      for segment in new.allSegments {
        guard let known = before[segment.sequence], known != segment.discontinuity else { continue }
        report(
          segment.line,
          "segment \(segment.sequence) has the discontinuity sequence number \(segment.discontinuity), not "
            + "\(known)")
        return
      }
    },
    PlaylistRule(
      reload: "discontinuity-forward", "8216bis, 6.2.2",
      "EXT-X-DISCONTINUITY-SEQUENCE doesn't decrease."
    ) { old, new, report in
      if new.discontinuitySequence < old.discontinuitySequence {
        report(
          new.first("EXT-X-DISCONTINUITY-SEQUENCE")?.line,
          "EXT-X-DISCONTINUITY-SEQUENCE went from \(old.discontinuitySequence) to "
            + "\(new.discontinuitySequence)")
      }
    },
    PlaylistRule(
      reload: "target-constant", "8216bis, 6.2.1", "EXT-X-TARGETDURATION doesn't change."
    ) { old, new, report in
      guard old.isMedia, new.isMedia, let before = old.targetDuration,
        let after = new.targetDuration, before != after
      else { return }
      report(
        new.first("EXT-X-TARGETDURATION")?.line,
        "EXT-X-TARGETDURATION went from \(before) to \(after)")
    },
    PlaylistRule(
      reload: "no-loss", "8216bis, 6.2.1",
      "Segments are removed from the start only: none disappears from the end."
    ) { old, new, report in
      guard let last = old.segments.last?.sequence else { return }
      let present = new.segments.last?.sequence ?? (new.mediaSequence + new.skipped - 1)
      if present < last {
        report(nil, "the last segment was \(last), and now is \(present)")
      }
    },
    PlaylistRule(
      reload: "long-enough", "8216bis, 6.2.2",
      "No segment is removed from a live playlist that then is shorter than three target durations."
    ) { old, new, report in
      // The duration is a sum of decimal fractions.
      guard !new.isEnded, new.mediaSequence > old.mediaSequence, new.skipped == 0,
        let target = new.targetDuration, new.duration < Double(3 * min(target, 1 << 40)) - 1e-6
      else { return }
      report(nil, "segments were removed, and \(new.duration) s are left")
    },
    PlaylistRule(
      reload: "end-is-final", "8216bis, 6.2.1",
      "A playlist with EXT-X-ENDLIST gets no segment, and keeps the tag."
    ) { old, new, report in
      guard old.isEnded else { return }
      if !new.isEnded { report(nil, "EXT-X-ENDLIST has disappeared") }
      if (new.segments.last?.sequence ?? -1) > (old.segments.last?.sequence ?? -1) {
        report(new.segments.last?.line, "a segment was added after the end")
      }
    },
    PlaylistRule(
      reload: "fixed-type", "8216bis, 6.2.1",
      "A playlist of type VOD doesn't change, and one of type EVENT loses nothing; EVENT may become VOD."
    ) { old, new, report in
      guard let type = old.type else { return }
      if type == "VOD", old.lines != new.lines { report(nil, "a playlist of type VOD has changed") }
      if type == "EVENT", new.mediaSequence > old.mediaSequence || new.type == nil {
        report(nil, "a playlist of type EVENT has lost something")
      }
    },
    PlaylistRule(
      reload: "same-parts", "8216bis, 6.2.1",
      "A part keeps its URI and duration; parts are removed in order, with all others of their segment."
    ) { old, new, report in
      let before = Dictionary(
        old.allSegments.map { ($0.sequence, $0) }
      ) { first, _ in first }
      for segment in new.allSegments where !segment.parts.isEmpty {
        guard let known = before[segment.sequence] else { continue }
        // A segment that was complete has all its parts, or none any more.
        let isComplete = !known.uri.isEmpty
        if isComplete
          ? segment.parts.count != known.parts.count
          : segment.parts.count < known.parts.count
        {
          report(segment.line, "segment \(segment.sequence) had \(known.parts.count) parts")
        }
        for (one, other) in zip(known.parts, segment.parts)
        where one.uri != other.uri || one.duration != other.duration {
          report(other.line, "a part of segment \(segment.sequence) has changed")
        }
      }
    },
    PlaylistRule(
      reload: "part-target-constant", "8216bis, 4.4.3.7", "PART-TARGET doesn't change."
    ) { old, new, report in
      guard let before = old.partTarget, let after = new.partTarget, before != after else { return }
      report(new.first("EXT-X-PART-INF")?.line, "PART-TARGET went from \(before) to \(after)")
    },
    PlaylistRule(
      reload: "hint-kept", "8216bis, 4.4.5.3",
      "The part that follows the last one has the URI that was hinted."
    ) { old, new, report in
      let hint = old.all("EXT-X-PRELOAD-HINT").first { $0.attributes["TYPE"] == "PART" }
      guard let uri = hint?.attributes.quoted("URI"), let last = old.allSegments.last else {
        return
      }
      // In the segment that was not complete, or else in the next one.
      let (sequence, index) =
        old.open == nil ? (last.sequence + 1, 0) : (last.sequence, last.parts.count)
      guard let segment = new.allSegments.first(where: { $0.sequence == sequence }),
        segment.parts.indices.contains(index), segment.parts[index].uri != uri
      else { return }
      report(segment.parts[index].line, "the part isn't the one that was hinted, \(uri)")
    },
  ]
}
