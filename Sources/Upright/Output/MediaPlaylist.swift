internal import Foundation

/// The text of a media playlist (RFC 8216, section 4).
struct MediaPlaylist {
  private enum Line {
    case map(String)
    case segment(String, duration: Double)
  }

  private let targetDuration: Double
  private var lines: [Line] = []
  var isEnded = false

  init(targetDuration: Double) { self.targetDuration = targetDuration }

  /// Says which init segment the following segments want; the second and later ones begin after a
  /// discontinuity.
  mutating func begin(map: String) { lines.append(.map(map)) }

  mutating func add(segment: String, duration: Double) {
    lines.append(.segment(segment, duration: max(0, duration)))
  }

  var text: String {
    var longest = targetDuration
    for case .segment(_, let duration) in lines { longest = max(longest, duration) }
    var text = """
      #EXTM3U
      #EXT-X-VERSION:7
      #EXT-X-TARGETDURATION:\(Int(longest.rounded()))
      #EXT-X-MEDIA-SEQUENCE:0
      #EXT-X-PLAYLIST-TYPE:\(isEnded ? "VOD" : "EVENT")
      #EXT-X-INDEPENDENT-SEGMENTS

      """
    var hasMap = false
    for line in lines {
      switch line {
      case .map(let file):
        if hasMap { text += "#EXT-X-DISCONTINUITY\n" }
        hasMap = true
        text += "#EXT-X-MAP:URI=\"\(file)\"\n"
      case .segment(let file, let duration):
        text += "#EXTINF:\(String(format: "%.6f", duration)),\n\(file)\n"
      }
    }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return text
  }
}
