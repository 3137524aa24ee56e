/// Media playlists, and their segments.
extension PlaylistRule {
  static let tags = [
    PlaylistRule(
      "target-duration", "RFC 8216, 4.3.3.1",
      "A media playlist has EXT-X-TARGETDURATION, and no segment, rounded to seconds, is longer."
    ) { list, report in
      guard list.isMedia else { return }
      guard let target = list.targetDuration else {
        if list.first("EXT-X-TARGETDURATION") == nil {
          report(nil, "there is no EXT-X-TARGETDURATION")
        }
        return
      }
      for segment in list.segments {
        guard let duration = segment.duration, duration.rounded() > Double(target) else { continue }
        report(segment.line, "the segment of \(duration) s is longer than \(target) s")
      }
    },
    PlaylistRule(
      "sequence-first", "RFC 8216, 4.3.3.2 and 4.3.3.3",
      "EXT-X-MEDIA-SEQUENCE and EXT-X-DISCONTINUITY-SEQUENCE come before all segments and "
        + "discontinuities."
    ) { list, report in
      let firstDiscontinuity = list.first("EXT-X-DISCONTINUITY")?.line ?? .max
      let firstSegment = list.allSegments.first?.line ?? .max
      for name in ["EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE"] {
        for tag in list.all(name) where tag.line > min(firstDiscontinuity, firstSegment) {
          report(tag.line, "\(name) comes too late")
        }
      }
    },
    PlaylistRule(
      "playlist-type", "RFC 8216, 4.3.3.5", "EXT-X-PLAYLIST-TYPE is EVENT or VOD."
    ) { list, report in
      guard let tag = list.first("EXT-X-PLAYLIST-TYPE") else { return }
      if !["EVENT", "VOD"].contains(tag.value) { report(tag.line, "the type is neither") }
    },
    PlaylistRule(
      "end", "8216bis, 4.4.3.4",
      "After EXT-X-ENDLIST nothing is hinted, and no part follows the last segment."
    ) { list, report in
      guard list.isEnded else { return }
      if let tag = list.first("EXT-X-PRELOAD-HINT") { report(tag.line, "hints at a later part") }
      if let open = list.open { report(open.line, "the part belongs to no segment") }
    },
    PlaylistRule(
      "date-range", "RFC 8216, 4.3.2.7",
      "EXT-X-DATERANGE has an ID and a START-DATE, and the playlist has EXT-X-PROGRAM-DATE-TIME."
    ) { list, report in
      var started: Set<String> = []
      let hasDates = list.first("EXT-X-PROGRAM-DATE-TIME") != nil
      for tag in list.all("EXT-X-DATERANGE") {
        let attributes = tag.attributes
        guard let id = attributes.quoted("ID") else {
          report(tag.line, "EXT-X-DATERANGE has no ID")
          continue
        }
        if attributes.quoted("START-DATE") != nil { started.insert(id) }
        if !started.contains(id) { report(tag.line, "EXT-X-DATERANGE has no START-DATE") }
        if !hasDates { report(tag.line, "there is no EXT-X-PROGRAM-DATE-TIME") }
      }
    },
  ]

  static let segments = [
    PlaylistRule(
      "extinf", "RFC 8216, 4.3.2.1", "EXTINF is a duration and a comma."
    ) { list, report in
      for tag in list.all("EXTINF") {
        let value = tag.value ?? ""
        let number = value.prefix { $0 != "," }
        if PlaylistNumber.seconds(number) == nil || number.count == value.count {
          report(tag.line, "EXTINF isn't a duration and a comma")
        }
      }
    },
    PlaylistRule(
      "byte-range", "RFC 8216, 4.3.2.2",
      "EXT-X-BYTERANGE is LENGTH or LENGTH@OFFSET; without an offset, the segment before is of the same "
        + "resource."
    ) { list, report in
      for (index, segment) in list.segments.enumerated() {
        guard let tag = segment.byteRange else { continue }
        let parts = (tag.value ?? "").split(separator: "@", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ PlaylistNumber.integer($0) != nil })
        else {
          report(tag.line, "EXT-X-BYTERANGE isn't a range")
          continue
        }
        let before = index > 0 ? list.segments[index - 1] : nil
        if parts.count == 1, before?.uri != segment.uri || before?.byteRange == nil {
          report(
            tag.line, "no range of the same resource precedes EXT-X-BYTERANGE without an offset")
        }
      }
    },
    PlaylistRule("map", "RFC 8216, 4.3.2.5", "EXT-X-MAP has a URI.") { list, report in
      for tag in list.all("EXT-X-MAP") where tag.attributes.quoted("URI") == nil {
        report(tag.line, "EXT-X-MAP has no URI")
      }
    },
    PlaylistRule(
      "map-of-fragments", "RFC 8216, 3.3", "Segments in fragmented MP4 have an EXT-X-MAP."
    ) { list, report in
      for segment in list.allSegments where segment.map == nil && list.skipped == 0 {
        let uri = (segment.parts.first?.uri ?? segment.uri).prefix { $0 != "?" && $0 != "#" }
        if [".m4s", ".mp4", ".cmfv", ".cmfa"].contains(where: { uri.hasSuffix($0) }) {
          report(segment.line, "no EXT-X-MAP applies to the segment")
        }
      }
    },
    PlaylistRule(
      "key", "RFC 8216, 4.3.2.4", "EXT-X-KEY has a METHOD and, unless that is NONE, a URI."
    ) { list, report in
      for tag in list.all("EXT-X-KEY") {
        let attributes = tag.attributes
        guard let method = attributes["METHOD"] else {
          report(tag.line, "EXT-X-KEY has no METHOD")
          continue
        }
        if (method == "NONE") == (attributes.quoted("URI") != nil) {
          report(
            tag.line, "EXT-X-KEY with METHOD=\(method) \(method == "NONE" ? "has a" : "has no") URI"
          )
        }
      }
    },
    PlaylistRule(
      "date", "RFC 8216, 4.3.2.6",
      "EXT-X-PROGRAM-DATE-TIME is a date and time of ISO 8601 with a zone."
    ) { list, report in
      for tag in list.all("EXT-X-PROGRAM-DATE-TIME") where PlaylistDate(tag.value ?? "") == nil {
        report(tag.line, "EXT-X-PROGRAM-DATE-TIME isn't a date and time with a zone")
      }
    },
    PlaylistRule(
      "date-order", "8216bis, 6.2.1",
      "The dates of segments are unambiguous: those of later segments are later, with overlaps of less than a second."
    ) { list, report in
      var last: (date: Double, line: Int)?
      for segment in list.allSegments {
        guard let date = segment.date.flatMap({ PlaylistDate($0)?.seconds }) else {
          last = last.map { ($0.date + (segment.duration ?? 0), $0.line) }
          continue
        }
        if let last, date < last.date - 1 {
          report(
            segment.line,
            "the segment's date is \(last.date - date) s before the end of the one before")
        }
        last = (date + (segment.duration ?? 0), segment.line)
      }
    },
    PlaylistRule(
      "date-at-discontinuity", "8216bis, 6.2.1",
      "If segments have dates, so have those with a discontinuity.", level: .should
    ) { list, report in
      guard list.first("EXT-X-PROGRAM-DATE-TIME") != nil else { return }
      for segment in list.allSegments where segment.isDiscontinuous && segment.date == nil {
        report(segment.line, "the segment has a discontinuity and no date")
      }
    },
  ]
}

/// A date and time of ISO 8601 with a zone, `2026-01-02T03:04:05.678Z`.
struct PlaylistDate {
  /// The seconds since the first day of the year 0.
  let seconds: Double

  /// Parses a date. Returns `nil` for anything else.
  init?(_ text: String) {
    let halves = text.split(separator: "T", omittingEmptySubsequences: false)
    guard halves.count == 2, text.utf8.count <= 40 else { return nil }
    let day = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard day.count == 3, day.map(\.utf8.count) == [4, 2, 2],
      let year = PlaylistNumber.integer(day[0]), let month = PlaylistNumber.integer(day[1]),
      let date = PlaylistNumber.integer(day[2]), (1...12).contains(month), (1...31).contains(date)
    else { return nil }
    guard let mark = halves[1].lastIndex(where: { "Z+-".contains($0) }) else { return nil }
    let clock = halves[1][..<mark].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = PlaylistNumber.integer(clock[0]), hour < 25,
      let minute = PlaylistNumber.integer(clock[1]), minute < 60,
      let second = PlaylistNumber.seconds(clock[2]), second < 61,
      let zone = Self.zone(halves[1][mark...])
    else { return nil }
    // Days of the civil calendar, with years that begin in March.
    let (y, m) = month > 2 ? (year, month - 3) : (year - 1, month + 9)
    let leaps = y >= 0 ? y / 4 - y / 100 + y / 400 : -1
    let days = 365 * y + leaps + (153 * m + 2) / 5 + date
    let minutes: Int = (days * 24 + hour) * 60 + minute - zone
    seconds = Double(minutes * 60) + second
  }

  /// Returns the minutes of `Z`, `+01:00`, `-0330` or `+01`.
  private static func zone(_ text: Substring) -> Int? {
    if text == "Z" { return 0 }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard [2, 4].contains(digits.count), let number = PlaylistNumber.integer(digits) else {
      return nil
    }
    let minutes = digits.count == 2 ? number * 60 : number / 100 * 60 + number % 100
    return text.first == "-" ? -minutes : text.first == "+" ? minutes : nil
  }
}
