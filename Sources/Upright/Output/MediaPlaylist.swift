internal import Foundation

/// The text of a media playlist (RFC 8216, section 4).
struct MediaPlaylist {
  private enum Line {
    case format(map: String?)
    case segment(String, duration: Double)
  }

  private let targetDuration: Double
  private var lines: [Line] = []
  var isEnded = false

  init(targetDuration: Double) { self.targetDuration = targetDuration }

  /// Begins a format, which the init segment `map` describes where segments do not by themselves; the
  /// second and later ones begin after a discontinuity.
  mutating func begin(map: String?) { lines.append(.format(map: map)) }

  mutating func add(segment: String, duration: Double) {
    lines.append(.segment(segment, duration: max(0, duration)))
  }

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
      #EXT-X-TARGETDURATION:\(Int(longest.rounded()))
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
