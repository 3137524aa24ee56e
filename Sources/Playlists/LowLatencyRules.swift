/// Parts, and the tags that go with them.
extension PlaylistRule {
  /// Durations are written with a limited number of digits.
  private static let rounding = 0.001

  static let lowLatency = [
    PlaylistRule(
      "part-inf", "8216bis, 4.4.3.7",
      "A playlist with parts has EXT-X-PART-INF with a PART-TARGET."
    ) { list, report in
      guard list.hasParts || list.first("EXT-X-PART-INF") != nil else { return }
      if (list.partTarget ?? 0) <= 0 {
        report(list.first("EXT-X-PART-INF")?.line, "there is no PART-TARGET")
      }
    },
    PlaylistRule(
      "part", "8216bis, 4.4.4.9", "EXT-X-PART has a URI and a DURATION."
    ) { list, report in
      for tag in list.all("EXT-X-PART") {
        let attributes = tag.attributes
        if attributes.quoted("URI") == nil { report(tag.line, "EXT-X-PART has no URI") }
        if attributes.seconds("DURATION") == nil { report(tag.line, "EXT-X-PART has no DURATION") }
      }
    },
    PlaylistRule(
      "part-longest", "8216bis, 4.4.4.9", "No part is longer than PART-TARGET."
    ) { list, report in
      guard let target = list.partTarget else { return }
      for part in list.allSegments.flatMap(\.parts) where part.duration > target {
        report(part.line, "the part of \(part.duration) s is longer than \(target) s")
      }
    },
    PlaylistRule(
      "part-shortest", "8216bis, 4.4.4.9",
      "A part has at least 85 % of PART-TARGET, unless it is independent, a gap or before one, or the last of "
        + "its segment."
    ) { list, report in
      guard let target = list.partTarget else { return }
      for segment in list.allSegments {
        for (part, next) in zip(segment.parts, segment.parts.dropFirst())
        where part.duration < 0.85 * target - 1e-6 {
          if part.isIndependent || part.isGap || next.isGap { continue }
          report(part.line, "the part of \(part.duration) s has less than 85 % of \(target) s")
        }
      }
    },
    PlaylistRule(
      "part-sum", "8216bis, 4.4.4.9", "The parts of a segment are as long as the segment."
    ) { list, report in
      for segment in list.segments where !segment.parts.isEmpty {
        let sum = segment.parts.reduce(0) { $0 + $1.duration }
        guard let duration = segment.duration,
          abs(sum - duration) > rounding * Double(segment.parts.count + 1)
        else { continue }
        report(segment.line, "the segment has \(duration) s, and its parts have \(sum) s")
      }
    },
    PlaylistRule(
      "part-tags", "8216bis, 4.4.4.9",
      "EXT-X-DISCONTINUITY, EXT-X-KEY, EXT-X-MAP and EXT-X-PROGRAM-DATE-TIME come before a segment's first part."
    ) { list, report in
      for tag in list.allSegments.flatMap(\.lateTags) {
        report(tag.line, "\(tag.name) comes after the segment's first part")
      }
    },
    PlaylistRule(
      "part-independent", "8216bis, 4.4.4.9",
      "With EXT-X-INDEPENDENT-SEGMENTS, the first part of a segment is independent.", level: .should
    ) { list, report in
      guard list.first("EXT-X-INDEPENDENT-SEGMENTS") != nil else { return }
      for segment in list.allSegments {
        if let part = segment.parts.first, !part.isIndependent, !part.isGap {
          report(part.line, "the first part of the segment isn't INDEPENDENT")
        }
      }
    },
    PlaylistRule(
      "part-old", "8216bis, 6.2.2",
      "Parts that are more than three target durations from the end are removed.", level: .should
    ) { list, report in
      guard let target = list.targetDuration else { return }
      var after = list.open?.parts.reduce(0) { $0 + $1.duration } ?? 0
      for segment in list.segments.reversed() {
        // A segment is as long as the target duration or less, so one of them may be half behind the limit.
        if after > Double(4 * target), let part = segment.parts.first {
          report(part.line, "the part is \(after) s from the end")
        }
        after += segment.duration ?? 0
      }
    },
  ]

  static let lowLatencyTags = [
    PlaylistRule(
      "hold-back", "8216bis, 4.4.3.8", "HOLD-BACK is at least three target durations."
    ) { list, report in
      guard let tag = list.first("EXT-X-SERVER-CONTROL"), tag.attributes["HOLD-BACK"] != nil else {
        return
      }
      let seconds = tag.attributes.seconds("HOLD-BACK") ?? 0
      if seconds < Double(3 * min(list.targetDuration ?? 0, 1 << 40)) {
        report(tag.line, "HOLD-BACK is \(seconds) s")
      }
    },
    PlaylistRule(
      "part-hold-back", "8216bis, 4.4.3.8",
      "A playlist with EXT-X-PART-INF has a PART-HOLD-BACK of at least two PART-TARGETs."
    ) { list, report in
      guard let target = list.partTarget else { return }
      let tag = list.first("EXT-X-SERVER-CONTROL")
      let seconds = tag?.attributes.seconds("PART-HOLD-BACK") ?? 0
      if seconds < 2 * target { report(tag?.line, "PART-HOLD-BACK is \(seconds) s") }
    },
    PlaylistRule(
      "part-hold-back-three", "8216bis, 4.4.3.8", "PART-HOLD-BACK is at least three PART-TARGETs.",
      level: .should
    ) { list, report in
      guard let target = list.partTarget, let tag = list.first("EXT-X-SERVER-CONTROL"),
        let seconds = tag.attributes.seconds("PART-HOLD-BACK")
      else { return }
      if seconds < 3 * target - 1e-6 { report(tag.line, "PART-HOLD-BACK is \(seconds) s") }
    },
    PlaylistRule(
      "skip-boundary", "8216bis, 4.4.3.8",
      "CAN-SKIP-UNTIL is at least six target durations, and CAN-SKIP-DATERANGES comes with it."
    ) { list, report in
      guard let tag = list.first("EXT-X-SERVER-CONTROL") else { return }
      guard tag.attributes["CAN-SKIP-UNTIL"] != nil else {
        if tag.attributes["CAN-SKIP-DATERANGES"] != nil {
          report(tag.line, "CAN-SKIP-DATERANGES has no CAN-SKIP-UNTIL")
        }
        return
      }
      let seconds = tag.attributes.seconds("CAN-SKIP-UNTIL") ?? 0
      if seconds < Double(6 * min(list.targetDuration ?? 0, 1 << 40)) {
        report(tag.line, "CAN-SKIP-UNTIL is \(seconds) s")
      }
    },
    PlaylistRule(
      "skip", "8216bis, 4.4.5.2 and 6.2.5.1",
      "EXT-X-SKIP has SKIPPED-SEGMENTS, and replaces only what is before CAN-SKIP-UNTIL, in a playlist that isn't "
        + "ended."
    ) { list, report in
      guard let tag = list.first("EXT-X-SKIP") else { return }
      if tag.attributes.integer("SKIPPED-SEGMENTS") == nil {
        report(tag.line, "EXT-X-SKIP has no SKIPPED-SEGMENTS")
      }
      if let first = list.allSegments.first, first.line < tag.line {
        report(tag.line, "EXT-X-SKIP comes after a segment")
      }
      guard !list.isEnded, let boundary = list.control?.seconds("CAN-SKIP-UNTIL") else {
        return report(tag.line, "the playlist can't be skipped")
      }
      if list.duration < boundary - rounding {
        report(tag.line, "only \(list.duration) s are left, and CAN-SKIP-UNTIL is \(boundary) s")
      }
    },
    PlaylistRule(
      "preload-hint", "8216bis, 4.4.5.3 and 6.2.6",
      "EXT-X-PRELOAD-HINT has a TYPE, PART or MAP, and a URI; there is one of each type."
    ) { list, report in
      var types: Set<String> = []
      for tag in list.all("EXT-X-PRELOAD-HINT") {
        let attributes = tag.attributes
        guard let type = attributes["TYPE"], ["PART", "MAP"].contains(type),
          let uri = attributes.quoted("URI")
        else {
          report(tag.line, "EXT-X-PRELOAD-HINT has no TYPE or no URI")
          continue
        }
        if !types.insert(type).inserted { report(tag.line, "there are two hints of type \(type)") }
        let isListed = list.allSegments.flatMap(\.parts).contains {
          $0.uri == uri && $0.byteRange == nil
        }
        if isListed { report(tag.line, "the hinted part is listed already") }
      }
    },
    PlaylistRule(
      "rendition-report", "8216bis, 4.4.5.4",
      "EXT-X-RENDITION-REPORT has a URI that is relative, and a LAST-MSN."
    ) { list, report in
      for tag in list.all("EXT-X-RENDITION-REPORT") {
        let attributes = tag.attributes
        if attributes.quoted("URI")?.contains("://") ?? true {
          report(tag.line, "EXT-X-RENDITION-REPORT has no relative URI")
        }
        if attributes.integer("LAST-MSN") == nil {
          report(tag.line, "EXT-X-RENDITION-REPORT has no LAST-MSN")
        }
      }
    },
    PlaylistRule(
      "rendition-report-part", "8216bis, 4.4.5.4",
      "A report in a playlist with parts has a LAST-PART.", level: .should
    ) { list, report in
      guard list.hasParts else { return }
      for tag in list.all("EXT-X-RENDITION-REPORT")
      where tag.attributes.integer("LAST-PART") == nil {
        report(tag.line, "EXT-X-RENDITION-REPORT has no LAST-PART")
      }
    },
    PlaylistRule(
      "live-type", "8216bis, 6.2.2", "A playlist whose first segments were removed has no type."
    ) { list, report in
      guard let tag = list.first("EXT-X-PLAYLIST-TYPE"), list.mediaSequence > 0 else { return }
      report(tag.line, "EXT-X-PLAYLIST-TYPE allows no removal of segments")
    },
  ]
}
