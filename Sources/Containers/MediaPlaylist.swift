internal import Foundation
internal import UprightMediaIO

/// What an HLS output lists its segments in.
protocol HLSPlaylist {
  /// The number of the segment that is made next.
  var nextSegment: Int { get }
  /// Begins a format, which the init segment `map` describes where segments do not by themselves; all
  /// but the first begin after a discontinuity.
  mutating func begin(map: String?)
  /// Adds the segment `nextSegment`, which begins at `start` seconds of media time.
  mutating func add(segment: String, duration: Double, start: Double)
  /// Says that no segment follows.
  mutating func end()
  /// The files that no player may ask for any more; each is named once.
  mutating func takeExpired() -> [String]
  /// The playlist as it stands.
  var text: String { get }
}

/// The text of the media playlist of a whole stream (RFC 8216, section 4).
struct MediaPlaylist: HLSPlaylist {
  private enum Line {
    case format(map: String?)
    case segment(String, duration: Double)
  }

  private let targetDuration: Double
  private var lines: [Line] = []
  private var isEnded = false
  private(set) var nextSegment = 0

  init(targetDuration: Double) { self.targetDuration = targetDuration }

  mutating func begin(map: String?) { lines.append(.format(map: map)) }

  mutating func add(segment: String, duration: Double, start: Double) {
    lines.append(.segment(segment, duration: max(0, duration)))
    nextSegment += 1
  }

  mutating func end() { isEnded = true }

  mutating func takeExpired() -> [String] { [] }

  var text: String {
    var longest = targetDuration
    // EXT-X-MAP wants version 6, durations that are no integers want 3 (RFC 8216, 7); fMP4 players
    // expect 7.
    var version = 3
    for line in lines {
      switch line {
      case .segment(_, let duration): longest = max(longest, duration)
      case .format(let map): if map != nil { version = 7 }
      }
    }
    var text = """
      #EXTM3U
      #EXT-X-VERSION:\(version)
      #EXT-X-TARGETDURATION:\(Int64(clampingTicks: longest))
      #EXT-X-MEDIA-SEQUENCE:0
      #EXT-X-PLAYLIST-TYPE:\(isEnded ? "VOD" : "EVENT")
      #EXT-X-INDEPENDENT-SEGMENTS

      """
    var isLater = false
    for line in lines {
      switch line {
      case .format(let map):
        if isLater { text += "#EXT-X-DISCONTINUITY\n" }
        isLater = true
        if let map { text += "#EXT-X-MAP:URI=\"\(map)\"\n" }
      case .segment(let file, let duration):
        text += "#EXTINF:\(String(format: "%.6f", duration)),\n\(file)\n"
      }
    }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return text
  }
}
