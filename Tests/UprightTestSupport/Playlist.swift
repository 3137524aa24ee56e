import Foundation

/// A media playlist (RFC 8216), parsed strictly: any unexpected line is an error, and so is any violation of a rule
/// of `PlaylistChecker`.
package struct Playlist: Sendable {
  /// One segment, with the tags that apply to it.
  package struct Segment: Sendable {
    package let file: String
    package let duration: Double
    /// The initialization segment of the segment. Empty if there is none.
    package let map: String
    /// Whether EXT-X-DISCONTINUITY precedes the segment.
    package let isDiscontinuous: Bool
    /// EXT-X-PROGRAM-DATE-TIME.
    package let date: Date?
    /// The parts that are listed.
    package let parts: [Part]
  }

  /// One part (EXT-X-PART).
  package struct Part: Sendable {
    package let file: String
    package let duration: Double
    package let isIndependent: Bool
  }

  /// One EXT-X-DATERANGE, a turn.
  package struct Turn: Sendable {
    package let id: String
    /// CLASS.
    package let category: String
    package let start: Date
    package let duration: Double
    package let from: String
    package let to: String
    /// Empty for a playlist of audio.
    package let size: String
    package let reason: String

    /// - Parameter text: The attributes.
    init(_ text: String) throws {
      func value(_ name: String) -> String {
        let rest = ",\(text)".components(separatedBy: ",\(name)=").dropFirst().first ?? ""
        return rest.hasPrefix("\"")
          ? rest.dropFirst().prefix { $0 != "\"" }.description
          : rest.prefix { $0 != "," }.description
      }
      (id, category) = (value("ID"), value("CLASS"))
      (from, to) = (value("X-UPRIGHT-FROM"), value("X-UPRIGHT-TO"))
      (size, reason) = (value("X-UPRIGHT-SIZE"), value("X-UPRIGHT-REASON"))
      guard let start = Playlist.date(value("START-DATE")), let length = Double(value("DURATION")),
        ![id, category, from, to, reason].contains("")
      else { throw Malformed(description: text) }
      (self.start, duration) = (start, length)
    }
  }

  private static func date(_ text: String) -> Date? {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return formatter.date(from: text)
  }

  /// The error for an unexpected line.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  package private(set) var segments: [Segment] = []
  /// The URIs of all EXT-X-MAP tags, in order.
  package private(set) var maps: [String] = []
  package private(set) var discontinuities = 0
  /// The turns that are listed.
  package private(set) var turns: [Turn] = []
  package private(set) var isEnded = false
  package private(set) var version = 1
  package private(set) var targetDuration = 0
  package private(set) var mediaSequence = 0
  package private(set) var discontinuitySequence = 0
  /// `VOD`, `EVENT` or empty.
  package private(set) var type = ""
  /// The parts of the segment that isn't complete.
  package private(set) var openParts: [Part] = []
  /// The number of segments that EXT-X-SKIP replaces.
  package private(set) var skipped = 0
  /// The file name of the part that is hinted.
  package private(set) var hint: String?

  /// Reads the playlist at `path`.
  package init(path: String) throws {
    try self.init(text: String(contentsOfFile: path, encoding: .utf8))
  }

  /// Parses a playlist.
  package init(text: String) throws {
    var checker = PlaylistChecker()
    try self.init(text: text, checker: &checker)
  }

  /// Parses a playlist that `checker` has seen before, and checks what has changed.
  package init(text: String, checker: inout PlaylistChecker) throws {
    let violations = checker.check(text)
    guard violations.isEmpty else {
      throw Malformed(description: "\(violations)\n\(text)")
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    guard lines.first == "#EXTM3U" else { throw Malformed(description: "no #EXTM3U") }
    var duration: Double?
    var isDiscontinuous = false
    var date: Date?
    for line in lines.dropFirst() {
      if isEnded { throw Malformed(description: "after the end: \(line)") }
      func value(_ tag: String) -> String? {
        line.hasPrefix("#\(tag):") ? String(line.dropFirst(tag.count + 2)) : nil
      }
      if let text = value("EXT-X-VERSION"), let number = Int(text) {
        version = number
      } else if let text = value("EXT-X-TARGETDURATION"), let number = Int(text) {
        targetDuration = number
      } else if let text = value("EXT-X-MEDIA-SEQUENCE"), let number = Int(text) {
        mediaSequence = number
      } else if let text = value("EXT-X-DISCONTINUITY-SEQUENCE"), let number = Int(text) {
        discontinuitySequence = number
      } else if let text = value("EXT-X-PROGRAM-DATE-TIME") {
        date = Self.date(text)
        if date == nil { throw Malformed(description: line) }
      } else if let text = value("EXT-X-DATERANGE") {
        turns.append(try Turn(text))
      } else if let text = value("EXT-X-PLAYLIST-TYPE") {
        type = text
      } else if let text = value("EXT-X-MAP") {
        let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "URI=" else { throw Malformed(description: line) }
        maps.append(String(parts[1]))
      } else if let text = value("EXT-X-SKIP") {
        skipped = Int(text.drop { $0 != "=" }.dropFirst()) ?? 0
      } else if let text = value("EXT-X-PRELOAD-HINT") {
        hint = text.split(separator: "\"").dropFirst().first.map(String.init)
      } else if let text = value("EXT-X-PART") {
        let sides = text.split(separator: ",")[0].split(separator: "=")
        let file = text.split(separator: "\"").dropFirst().first.map(String.init)
        openParts.append(
          Part(
            file: file ?? "", duration: Double(sides[1]) ?? 0,
            isIndependent: text.contains("INDEPENDENT=YES")))
      } else if let text = value("EXTINF"), let number = Double(text.dropLast()) {
        duration = number
      } else if line == "#EXT-X-DISCONTINUITY" {
        discontinuities += 1
        isDiscontinuous = true
      } else if line == "#EXT-X-ENDLIST" {
        isEnded = true
      } else if line.hasPrefix("#") {
        let others = [
          "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-SERVER-CONTROL", "#EXT-X-PART-INF",
          "#EXT-X-RENDITION-REPORT", "#upright-writer:",
        ]
        guard others.contains(where: line.hasPrefix) else { throw Malformed(description: line) }
      } else {
        guard let length = duration else {
          throw Malformed(description: "\(line) without a duration")
        }
        // An MPEG-TS segment needs no initialization segment. A fragment of MP4 does.
        let map = maps.last ?? ""
        guard map.isEmpty == line.hasSuffix(".ts") else {
          throw Malformed(description: "\(line) with the map \(map)")
        }
        segments.append(
          Segment(
            file: line, duration: length, map: map, isDiscontinuous: isDiscontinuous, date: date,
            parts: openParts))
        openParts = []
        (duration, date) = (nil, nil)
        isDiscontinuous = false
      }
    }
  }

  /// The part that comes next: the number of its segment, and its index.
  package var nextPart: (segment: Int, index: Int) {
    (mediaSequence + skipped + segments.count, openParts.count)
  }
}
