internal import Foundation
package import Orientation

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
  private var entries: [Entry] = []
  private var removed: [Removed] = []
  /// The sequence number of the first entry (6.2.1).
  private var mediaSequence = 0
  /// The number of discontinuities that have left the playlist (6.2.2).
  private var discontinuitySequence = 0
  private var listed = MediaTime.zero
  private var map: String?
  private var isDiscontinuous = false
  private var hasFormat = false
  /// The date of media time 0; `nil` before the first segment.
  private var zero: Date?
  private var isEnded = false

  private(set) var nextSegment = 0

  /// - Parameters:
  ///   - window: The number of segments listed.
  ///   - segmentDuration: The time after which the next IDR frame begins a segment. No segment,
  ///     rounded to whole seconds, is longer than the target duration, which never changes (4.3.3.1).
  ///   - earlier: The playlist of an earlier run in the same folder.
  init(window: Int = 6, segmentDuration: MediaTime, continuing earlier: String? = nil) {
    self.window = max(3, window)
    let longest = min(max(segmentDuration, .zero), Self.longestSegment) + Self.longestHole
    targetDuration = max(1, longest.rescaled(to: .one).ticks)
    if let earlier { take(earlier) }
  }

  /// Starts a format, or continues an earlier run in the same format.
  mutating func begin(map: String?) {
    if hasFormat || nextSegment > 0 { isDiscontinuous = true }
    hasFormat = true
    self.map = map
  }

  mutating func add(segment: String, duration: MediaTime, start: MediaTime) {
    let duration = max(.zero, duration)
    let zero = self.zero ?? Date().addingTimeInterval(-(start + duration).seconds)
    self.zero = zero
    entries.append(
      Entry(
        file: segment, map: map, duration: duration,
        date: Self.text(of: zero.addingTimeInterval(start.seconds)),
        isDiscontinuous: isDiscontinuous))
    isDiscontinuous = false
    nextSegment += 1
    listed += duration
    while entries.count > window { removeFirst() }
  }

  mutating func end() { isEnded = true }

  private mutating func removeFirst() {
    let length = entries.reduce(.zero) { $0 + $1.duration }
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

  var text: String {
    var text = """
      #EXTM3U
      #EXT-X-VERSION:\(entries.contains { $0.map != nil } || map != nil ? 7 : 3)
      #EXT-X-TARGETDURATION:\(targetDuration)
      #EXT-X-MEDIA-SEQUENCE:\(mediaSequence)
      #EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuitySequence)
      #EXT-X-INDEPENDENT-SEGMENTS

      """
    var present: String?
    for entry in entries {
      if entry.isDiscontinuous { text += "#EXT-X-DISCONTINUITY\n" }
      if let map = entry.map, map != present || entry.isDiscontinuous {
        text += "#EXT-X-MAP:URI=\"\(map)\"\n"
      }
      present = entry.map
      if let date = entry.date { text += "#EXT-X-PROGRAM-DATE-TIME:\(date)\n" }
      text += "#EXTINF:\(entry.duration.decimalSeconds),\n\(entry.file)\n"
    }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return text
  }

  private static func text(of date: Date) -> String {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return formatter.string(from: date)
  }

  // MARK: - An earlier run

  /// Continues a playlist that this class wrote earlier. If its target duration was different, only the
  /// sequence numbers are used, because the target duration must not change within a playlist.
  private mutating func take(_ text: String) {
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
    if target == targetDuration {
      entries = found
      while entries.count > window { removeFirst() }
    } else {
      discontinuitySequence += found.count { $0.isDiscontinuous }
      mediaSequence = nextSegment
    }
  }

  /// The files of an earlier run that the playlist still needs.
  var needed: Set<String> { Set(entries.map(\.file) + entries.compactMap(\.map)) }
}
