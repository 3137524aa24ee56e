internal import Foundation
internal import UprightMediaIO

/// The playlist of an HLS output.
protocol HLSPlaylist {
  /// The number of the next segment.
  var nextSegment: Int { get }
  /// Starts a format. `map` is its init segment, if segments need one. Every format except the first begins
  /// with a discontinuity.
  mutating func begin(map: String?)
  /// Adds the segment number `nextSegment`, which begins at `start` seconds of media time.
  mutating func add(segment: String, duration: Double, start: Double)
  /// Ends the playlist: no segment follows.
  mutating func end()
  /// Removes and returns the files that no player may request any more. Each file is returned once.
  mutating func takeExpired() -> [String]
  /// The current text of the playlist.
  var text: String { get }
}

/// The media playlist of a whole stream (RFC 8216, section 4).
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
    // EXT-X-MAP requires version 6, fractional durations require 3 (RFC 8216, 7). fMP4 players expect 7.
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
