package import UprightOrientation

/// A media playlist that lists the last segments of a continuing stream (RFC 8216, 6.2.2).
///
/// A segment that leaves the playlist stays in the folder for as long as a player that has just read the
/// playlist may still request it: the duration of the segment plus that of the playlist. Sequence numbers
/// continue those of an earlier run in the same folder, after a discontinuity.
package struct LivePlaylist: HLSPlaylist {
  private struct Entry {
    let file: String
    let map: String?
    let duration: MediaTime
    /// The date and time of the segment's first frame.
    let date: String?
    let isDiscontinuous: Bool
    /// The parts that are listed.
    var parts: [Part] = []
  }

  private struct Part {
    let file: String
    let duration: MediaTime
    let isIndependent: Bool
  }

  private struct Removed {
    let entry: Entry
    /// The time at which the file may be deleted: the sum of the durations listed by then.
    let until: MediaTime
  }

  /// The longest time between two frames of a live stream with segments. A segment may be longer than its
  /// nominal duration by that much.
  package static let longestHole = MediaTime(2, Rational(1, 5))

  /// The longest segment that is believed.
  private static let longestSegment = MediaTime(3600, .one)

  private let window: Int
  private let targetDuration: Int64
  /// PART-TARGET; `nil` for a playlist without parts.
  private let partTarget: MediaTime?
  private var entries: [Entry] = []
  /// The segment that isn't complete, with its parts so far; `nil` before its first part.
  private var current: Entry?
  /// The parts that aren't listed any more, and when they may be removed: the sum of the durations listed by then.
  private var removedParts: [(file: String, until: MediaTime)] = []
  private var removed: [Removed] = []
  /// The sequence number of the first entry (6.2.1).
  private var mediaSequence = 0
  /// The number of discontinuities that have left the playlist (6.2.2).
  private var discontinuitySequence = 0
  private var listed = MediaTime.zero
  private var map: String?
  private var isDiscontinuous = false
  private var hasFormat = false
  /// Whether there are segments of an earlier run before those of this one.
  private var hasEarlier = false
  /// Has the date of media time 0 for all playlists of the session.
  private let log: TurnLog
  /// The date of media time 0; `nil` before the first segment.
  private var zero: CalendarTime?
  /// The end of the last segment of an earlier run; `nil` if it isn't known.
  private var earlierEnd: CalendarTime?
  /// The turns that end in the listed segments.
  private var turns: [TurnRange] = []
  private var isEnded = false

  private(set) var nextSegment = 0

  /// Creates a playlist.
  ///
  /// - Parameters:
  ///   - first: The number of the first segment, if no earlier playlist has one. At least 1 in a playlist with parts.
  ///   - window: The number of segments listed; more if they are shorter than three target durations.
  ///   - segmentDuration: The time after which the next IDR frame begins a segment. No segment,
  ///     rounded to whole seconds, is longer than the target duration, which never changes (4.3.3.1).
  ///   - partTarget: The longest duration of a part; `nil` for a playlist without parts.
  ///   - log: The turns of the session, with the date of its media time 0.
  ///   - earlier: The playlist of an earlier run in the same folder.
  init(
    window: Int = 6, segmentDuration: MediaTime, partTarget: MediaTime? = nil,
    log: TurnLog = TurnLog(), first: Int = 0, continuing earlier: String? = nil
  ) {
    self.log = log
    self.window = max(3, window)
    self.partTarget = partTarget
    let longest = min(max(segmentDuration, .zero), Self.longestSegment) + Self.longestHole
    targetDuration = max(1, longest.rescaled(to: .one).ticks)
    // In the folder of a session that has several renditions now or had them before, a name may stand for a
    // multivariant playlist.
    if let earlier, !earlier.contains("#EXT-X-STREAM-INF") { resume(earlier) }
    hasEarlier = nextSegment > 0
    if !hasEarlier {
      // hls.js doesn't block a reload while segment 0 is the last one.
      let first = max(first, partTarget == nil ? 0 : 1)
      (mediaSequence, nextSegment) = (first, first)
    }
  }

  /// Starts a format, or continues an earlier run in the same format.
  mutating func begin(map: String?) {
    if hasFormat || hasEarlier { isDiscontinuous = true }
    hasFormat = true
    self.map = map
  }

  mutating func add(segment: String, duration: MediaTime, start: MediaTime) {
    let duration = max(.zero, duration)
    entries.append(
      entry(segment, duration: duration, start: start, parts: current?.parts ?? []))
    current = nil
    isDiscontinuous = false
    nextSegment += 1
    listed += duration
    // First, so that no segment leaves the list with its parts, which would never expire.
    removeParts()
    removeSegments()
  }

  mutating func add(_ turn: TurnLog.Turn, size: PixelSize?) {
    guard let zero else { return }
    let range = TurnRange(turn, zero: zero, size: size)
    // IDs are unique, also where the clock of an earlier run was ahead.
    if !turns.contains(where: { $0.ends.milliseconds == range.ends.milliseconds }) {
      turns.append(range)
    }
  }

  /// Takes the turns off the list that were over before the first segment.
  private mutating func removeTurns() {
    guard let first = entries.first?.date.flatMap({ CalendarTime($0) }) else { return }
    turns.removeAll { $0.ends.milliseconds < first.milliseconds }
  }

  mutating func add(part file: String, _ part: SegmentPart) {
    let listed = Part(
      file: file, duration: max(.zero, part.duration), isIndependent: part.isIndependent)
    if current == nil {
      current = entry("", duration: listed.duration, start: part.start, parts: [])
    }
    current?.parts.append(listed)
  }

  /// Returns the date of media time 0, by which the first segment, or its first part, ends now. It is later if segments
  /// of an earlier run would overlap: the clock was set back, or the input of that run was faster than its timestamps.
  private func zero(whereFirst start: MediaTime, lasts duration: MediaTime) -> CalendarTime {
    let zero = CalendarTime.now + -(start + duration).seconds
    let isUsable = earlierEnd.map { $0 < .now + Self.longestSegment.seconds } ?? false
    // The media time doesn't begin at zero if the session has written the earlier run too.
    let earliest = isUsable ? earlierEnd.map { $0 + -start.seconds } : nil
    return log.liveZero(now: zero, notBefore: earliest)
  }

  private mutating func entry(
    _ file: String, duration: MediaTime, start: MediaTime, parts: [Part]
  ) -> Entry {
    let zero = self.zero ?? zero(whereFirst: start, lasts: duration)
    self.zero = zero
    return Entry(
      file: file, map: map, duration: duration,
      date: (zero + start.seconds).millisecondText, isDiscontinuous: isDiscontinuous,
      parts: parts)
  }

  /// Takes the parts off the list that are more than three target durations from the end. They can be requested
  /// for as long again (6.2.2).
  private mutating func removeParts() {
    let span = MediaTime(3 * targetDuration, .one)
    var after = MediaTime.zero
    for index in entries.indices.reversed() {
      if after >= span, !entries[index].parts.isEmpty {
        // One target duration more, for a stream that is faster than its timestamps.
        let until = listed + span + MediaTime(targetDuration, .one)
        removedParts += entries[index].parts.map { ($0.file, until) }
        entries[index].parts = []
      }
      after += entries[index].duration
    }
  }

  /// Removes and returns the parts that no player may request any more. Each one is returned once.
  mutating func takeExpiredParts() -> [String] {
    let expired = removedParts.filter { $0.until <= listed }
    removedParts.removeAll { $0.until <= listed }
    return expired.map(\.file)
  }

  mutating func end() { isEnded = true }

  /// The duration of the listed segments.
  private var length: MediaTime { entries.reduce(.zero) { $0 + $1.duration } }

  /// Takes segments off the list that are before the window. Three target durations stay (RFC 8216, 6.2.2): frequent
  /// changes of the format make segments short.
  private mutating func removeSegments() {
    let least = MediaTime(3 * targetDuration, .one)
    while entries.count > window, length - entries[0].duration >= least { removeFirst() }
    removeTurns()
  }

  private mutating func removeFirst() {
    let length = length
    let entry = entries.removeFirst()
    mediaSequence += 1
    if entry.isDiscontinuous { discontinuitySequence += 1 }
    removed.append(Removed(entry: entry, until: listed + entry.duration + length))
  }

  /// Removes and returns the files that no player may request any more. Each file is returned once.
  mutating func takeExpired() -> [String] {
    let count = removed.prefix { $0.until <= listed }.count
    let expired = removed.prefix(count).map(\.entry)
    removed.removeFirst(count)
    let maps = Set(entries.map(\.map) + removed.map(\.entry.map) + [map])
    return expired.map(\.file)
      + Set(expired.compactMap(\.map)).filter { !maps.contains($0) }.sorted()
  }

  /// The playlist without parts.
  var text: String {
    var lines = header(version: entries.contains { $0.map != nil } || map != nil ? 7 : 3)
    for turn in turns { lines += turn.text }
    list(entries, hasParts: false, in: &lines)
    if isEnded { lines += "#EXT-X-ENDLIST\n" }
    return lines
  }

  /// Lists segments and their parts. Each begins with the map of its format, if that is another one than before.
  private func list(_ entries: [Entry], hasParts: Bool, in text: inout String) {
    var present: String?
    for entry in entries {
      if entry.isDiscontinuous { text += "#EXT-X-DISCONTINUITY\n" }
      if let map = entry.map, map != present || entry.isDiscontinuous {
        text += "#EXT-X-MAP:URI=\"\(map)\"\n"
      }
      present = entry.map
      if let date = entry.date { text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n" }
      for part in entry.parts where hasParts {
        text += "#EXT-X-PART:DURATION=\(part.duration.decimalSeconds),URI=\"\(part.file)\""
        text += part.isIndependent ? ",INDEPENDENT=YES\n" : "\n"
      }
      guard !entry.file.isEmpty else { continue }
      text += "#EXTINF:\(entry.duration.decimalSeconds),\n\(entry.file)\n"
    }
  }

  private func header(version: Int, control: String = "") -> String {
    """
    #EXTM3U
    #EXT-X-VERSION:\(version)
    #EXT-X-TARGETDURATION:\(targetDuration)
    \(control)#EXT-X-MEDIA-SEQUENCE:\(mediaSequence)
    #EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)
    #EXT-X-INDEPENDENT-SEGMENTS

    """
  }

  // MARK: - Low latency

  func edition(next: String?) -> HLSOrigin.Edition? {
    guard let partTarget else { return nil }
    let hint = isEnded ? nil : next
    let skipped = isEnded ? 0 : skippableSegments
    var lastPart: HLSOrigin.Part?
    if let current {
      lastPart = HLSOrigin.Part(segment: nextSegment, index: current.parts.count - 1)
    } else if let count = entries.last?.parts.count, count > 0 {
      lastPart = HLSOrigin.Part(segment: nextSegment - 1, index: count - 1)
    }
    return HLSOrigin.Edition(
      text: text(skipping: 0, partTarget, hint),
      delta: skipped > 0 ? text(skipping: skipped, partTarget, hint) : nil,
      lastSegment: nextSegment - 1, lastPart: lastPart, hint: hint,
      targetDuration: Int(clamping: targetDuration), partTarget: partTarget.seconds,
      isEnded: isEnded)
  }

  /// The number of segments that a delta update replaces by EXT-X-SKIP: those that end before the skip boundary,
  /// six target durations from the end of the playlist (RFC 8216bis, 4.4.3.8).
  private var skippableSegments: Int {
    let boundary = MediaTime(6 * targetDuration, .one)
    var after = MediaTime.zero
    for (index, entry) in entries.enumerated().reversed() {
      if after >= boundary { return index + 1 }
      after += entry.duration
    }
    return 0
  }

  /// Returns the playlist with its parts, but without rendition reports.
  private func text(skipping count: Int, _ partTarget: MediaTime, _ hint: String?) -> String {
    let target = partTarget.decimalSeconds
    let control = """
      #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=\(6 * targetDuration),\
      HOLD-BACK=\(3 * targetDuration),PART-HOLD-BACK=\((partTarget * 3).decimalSeconds)
      #EXT-X-PART-INF:PART-TARGET=\(target)

      """
    var text = header(version: 9, control: control)
    if count > 0 { text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(count)\n" }
    // A delta update has all of them: only segments are skipped (RFC 8216bis, 4.4.5.2).
    for turn in turns { text += turn.text }
    list(
      entries.dropFirst(count) + [current].compactMap(\.self), hasParts: true, in: &text)
    if isEnded {
      text += "#EXT-X-ENDLIST\n"
    } else if current == nil, isDiscontinuous {
      // Players must not take the next segment for one of the format before.
      text += "#EXT-X-DISCONTINUITY\n"
      if let map { text += "#EXT-X-MAP:URI=\"\(map)\"\n" }
    }
    if !isEnded, let hint {
      text += "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(hint)\"\n"
    }
    return text
  }

  // MARK: - An earlier run

  /// Continues a playlist that this class wrote earlier. If its target duration was different, only the
  /// sequence numbers are used, because the target duration must not change within a playlist.
  private mutating func resume(_ text: String) {
    var target: Int64?
    var (map, date): (String?, String?)
    var duration = MediaTime.zero
    var isDiscontinuous = false
    var found: [Entry] = []
    for line in text.split(whereSeparator: \.isNewline).map(String.init) {
      func value(_ tag: String) -> Substring? {
        line.hasPrefix("#\(tag):") ? line.dropFirst(tag.count + 2) : nil
      }
      if let text = value("EXT-X-TARGETDURATION") {
        target = Int64(text)
      } else if let number = value("EXT-X-MEDIA-SEQUENCE").flatMap({ Int($0) }) {
        mediaSequence = min(max(number, 0), 1 << 40)
      } else if let number = value("EXT-X-DISCONTINUITY-SEQUENCE").flatMap({ Int($0) }) {
        discontinuitySequence = min(max(number, 0), 1 << 40)
      } else if let text = value("EXT-X-MAP") {
        map = text.split(separator: "\"").dropFirst().first.map(String.init)
      } else if let text = value("EXT-X-PROGRAM-DATE-TIME") {
        date = String(text)
      } else if let text = value("EXTINF") {
        let seconds = Double(text.prefix { $0 != "," }) ?? 0
        let read = MediaTime(seconds: seconds, Rational(1, 1_000_000))
        duration = min(max(read, .zero), Self.longestSegment)
      } else if value("EXT-X-DATERANGE") != nil {
        if let turn = TurnRange(line: line) { turns.append(turn) }
      } else if line == "#EXT-X-DISCONTINUITY" {
        isDiscontinuous = true
      } else if !line.hasPrefix("#") {
        found.append(
          Entry(
            file: line, map: map, duration: duration,
            date: date, isDiscontinuous: isDiscontinuous))
        (date, isDiscontinuous) = (nil, false)
      }
    }
    nextSegment = mediaSequence + found.count
    earlierEnd = found.last.flatMap { last in
      last.date.flatMap { CalendarTime($0) }.map { $0 + last.duration.seconds }
    }
    if target == targetDuration {
      entries = found
      removeSegments()
    } else {
      discontinuitySequence += found.count { $0.isDiscontinuous }
      (mediaSequence, turns) = (nextSegment, [])
    }
  }

  /// The files of an earlier run that the playlist still needs.
  var needed: Set<String> { Set(entries.map(\.file) + entries.compactMap(\.map)) }
}
