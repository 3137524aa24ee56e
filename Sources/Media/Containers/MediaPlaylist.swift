package import UprightOrientation
internal import UprightMediaIO

/// The playlist of an HLS output.
protocol HLSPlaylist {
  /// The number of the next segment.
  var nextSegment: Int { get }
  /// Starts a format. `map` is its init segment, if segments need one. Every format except the first begins
  /// with a discontinuity.
  mutating func begin(map: String?)
  /// Adds the segment number `nextSegment`, which begins at `start` on the media timeline.
  mutating func add(segment: String, duration: MediaTime, start: MediaTime)
  /// Adds a part of the segment number `nextSegment`.
  mutating func add(part file: String, _ part: SegmentPart)
  /// Adds a turn that ends in the last segment.
  ///
  /// - Parameters:
  ///   - turn: With times of the media timeline.
  ///   - size: The size of the frames after it; `nil` for audio.
  mutating func add(_ turn: TurnLog.Turn, size: PixelSize?)
  /// Returns what a server answers with, if the playlist has parts.
  ///
  /// - Parameter next: The file name of the next part, if it certainly comes.
  func edition(next: String?) -> HLSOrigin.Edition?
  /// Ends the playlist: no segment follows.
  mutating func end()
  /// Removes and returns the files that no player may request any more. Each file is returned once.
  mutating func takeExpired() -> [String]
  /// Does the same for parts.
  mutating func takeExpiredParts() -> [String]
  /// The current text of the playlist.
  var text: String { get }
}

extension HLSPlaylist {
  mutating func add(part file: String, _ part: SegmentPart) {}
  mutating func takeExpiredParts() -> [String] { [] }
  func edition(next: String?) -> HLSOrigin.Edition? { nil }
}

/// The media playlist of a whole stream (RFC 8216, section 4).
struct MediaPlaylist: HLSPlaylist {
  private enum Entry {
    case format(map: String?)
    case segment(String, start: MediaTime, duration: MediaTime)
  }

  private let targetDuration: MediaTime
  /// The date of the first frame.
  private let date: CalendarTime
  /// Whether each segment is a single keyframe (RFC 8216, 4.3.3.6).
  fileprivate var isKeyframes = false
  private var turns: [(turn: TurnLog.Turn, size: PixelSize?)] = []
  private var entries: [Entry] = []
  private var isEnded = false
  private(set) var nextSegment = 0

  /// - Parameter date: The date of the first frame, for a playlist that lists turns.
  init(targetDuration: MediaTime, date: CalendarTime) {
    (self.targetDuration, self.date) = (targetDuration, date)
  }

  mutating func begin(map: String?) { entries.append(.format(map: map)) }

  mutating func add(segment: String, duration: MediaTime, start: MediaTime) {
    entries.append(.segment(segment, start: start, duration: max(.zero, duration)))
    nextSegment += 1
  }

  mutating func add(_ turn: TurnLog.Turn, size: PixelSize?) { turns.append((turn, size)) }

  /// The date of time 0, if the text has dates: if there are turns. What a player has read while the playlist grows
  /// stays as it is, so only the whole one has them.
  private var zero: CalendarTime? {
    guard isEnded, !turns.isEmpty else { return nil }
    for case .segment(_, let start, _) in entries { return date + -start.seconds }
    return nil
  }

  mutating func end() { isEnded = true }

  mutating func takeExpired() -> [String] { [] }

  var text: String {
    var longest = targetDuration
    // EXT-X-MAP requires version 6, fractional durations require 3 (RFC 8216, 7). fMP4 players expect 7.
    var version = 3
    for entry in entries {
      switch entry {
      case .segment(_, _, let duration): longest = max(longest, duration)
      case .format(let map): if map != nil { version = 7 }
      }
    }
    var text = """
      #EXTM3U
      #EXT-X-VERSION:\(version)
      #EXT-X-TARGETDURATION:\(longest.plausibleTicks(of: .one))
      #EXT-X-MEDIA-SEQUENCE:0
      #EXT-X-PLAYLIST-TYPE:\(isEnded ? "VOD" : "EVENT")
      #EXT-X-INDEPENDENT-SEGMENTS

      """
    if isKeyframes { text += "#EXT-X-I-FRAMES-ONLY\n" }
    let zero = zero
    if let zero {
      for (turn, size) in turns { text += TurnRange(turn, zero: zero, size: size).text }
    }
    var isLater = false
    for entry in entries {
      switch entry {
      case .format(let map):
        if isLater { text += "#EXT-X-DISCONTINUITY\n" }
        isLater = true
        if let map { text += "#EXT-X-MAP:URI=\"\(map)\"\n" }
      case .segment(let file, let start, let duration):
        if let zero {
          text += "#EXT-X-PROGRAM-DATE-TIME:\((zero + start.seconds).millisecondText)\n"
        }
        text += "#EXTINF:\(duration.decimalSeconds),\n\(file)\n"
      }
    }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return text
  }
}

/// A segment of a playlist that is complete.
package struct ListedSegment: Sendable {
  /// The name of its file.
  let file: String
  /// When it begins, and how long it lasts.
  let start, duration: MediaTime
  /// Whether a format begins with it.
  let beginsFormat: Bool
  /// The name of the init segment of its format; `nil` if there is none.
  let map: String?
  /// The size of its frames.
  let size: PixelSize

  package init(
    _ file: String, start: MediaTime, duration: MediaTime, beginsFormat: Bool, map: String?,
    size: PixelSize
  ) {
    (self.file, self.start, self.duration) = (file, start, duration)
    (self.beginsFormat, self.map, self.size) = (beginsFormat, map, size)
  }

  /// Returns the media playlist that lists them all.
  ///
  /// - Parameters:
  ///   - turns: The turns to list.
  ///   - zero: The time in the log at which the first segment begins.
  ///   - isKeyframes: Whether each segment is a single keyframe.
  package static func playlist(
    of segments: [ListedSegment], turns: TurnLog, from zero: MediaTime, isKeyframes: Bool = false
  ) -> String {
    var playlist = MediaPlaylist(targetDuration: .zero, date: turns.date)
    playlist.isKeyframes = isKeyframes
    for segment in segments {
      if segment.beginsFormat { playlist.begin(map: segment.map) }
      playlist.add(segment: segment.file, duration: segment.duration, start: segment.start)
      for turn in turns.turns(from: segment.start, for: segment.duration, offset: -zero) {
        playlist.add(turn, size: segment.size)
      }
    }
    playlist.end()
    return playlist.text
  }
}

extension MediaTime {
  /// The seconds as a decimal number with six places, for a time from 0 on.
  var decimalSeconds: String {
    let (whole, part) = rescaled(to: Rational(1, 1_000_000)).ticks
      .quotientAndRemainder(dividingBy: 1_000_000)
    return "\(whole).\(part.digits(6))"
  }
}
