/// The form of playlists, and tags that occur in both kinds.
extension PlaylistRule {
  static let general = [
    PlaylistRule("header", "RFC 8216, 4.3.1.1", "The first line is #EXTM3U.") { list, report in
      if list.lines.first != "#EXTM3U" { report(1, "the first line isn't #EXTM3U") }
    },
    PlaylistRule(
      "characters", "RFC 8216, 4.1",
      "There is no byte order mark, and no control character except line feeds and carriage returns."
    ) { list, report in
      for (index, line) in list.lines.enumerated() {
        let isBad = line.unicodeScalars.contains {
          $0.value < 0x20 || $0.value == 0xFEFF || (0x7F...0x9F).contains($0.value)
        }
        if isBad { report(index + 1, "contains a control character or a byte order mark") }
      }
    },
    PlaylistRule(
      "one-kind", "RFC 8216, 4.1",
      "A playlist is a media playlist or a multivariant playlist, and has no tags of the other kind."
    ) { list, report in
      if list.isMedia == list.isMultivariant {
        report(nil, list.isMedia ? "has tags of both kinds" : "has tags of neither kind")
      }
    },
    PlaylistRule(
      "once", "RFC 8216, 4.3.3", "Tags that describe the whole playlist occur once."
    ) { list, report in
      let names: Set<String> = [
        "EXTM3U", "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE",
        "EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE",
        "EXT-X-I-FRAMES-ONLY", "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-START", "EXT-X-PART-INF",
        "EXT-X-SERVER-CONTROL", "EXT-X-SKIP", "EXT-X-CONTENT-STEERING",
      ]
      var seen: Set<String> = []
      for tag in list.tags where names.contains(tag.name) {
        if !seen.insert(tag.name).inserted { report(tag.line, "\(tag.name) occurs again") }
      }
    },
    PlaylistRule(
      "attributes", "RFC 8216, 4.2",
      "An attribute list is NAME=VALUE, separated by commas; no name occurs twice."
    ) { list, report in
      let names: Set<String> = [
        "EXT-X-KEY", "EXT-X-MAP", "EXT-X-DATERANGE", "EXT-X-MEDIA", "EXT-X-STREAM-INF",
        "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-DATA", "EXT-X-SESSION-KEY", "EXT-X-START",
        "EXT-X-PART", "EXT-X-PART-INF", "EXT-X-SERVER-CONTROL", "EXT-X-SKIP",
        "EXT-X-PRELOAD-HINT", "EXT-X-RENDITION-REPORT", "EXT-X-CONTENT-STEERING",
      ]
      for tag in list.tags where names.contains(tag.name) {
        if let problem = tag.attributes.problem { report(tag.line, "\(tag.name) \(problem)") }
      }
    },
    PlaylistRule(
      "numbers", "RFC 8216, 4.3.3", "The numbers of tags are decimal integers."
    ) { list, report in
      let names: Set<String> = [
        "EXT-X-VERSION", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE",
        "EXT-X-DISCONTINUITY-SEQUENCE",
      ]
      for tag in list.tags where names.contains(tag.name) {
        if tag.value.flatMap({ PlaylistNumber.integer($0) }) == nil {
          report(tag.line, "\(tag.name) isn't a decimal integer")
        }
      }
    },
    PlaylistRule(
      "version", "RFC 8216, 7; 8216bis, 8",
      "EXT-X-VERSION is at least what the tags and attributes need."
    ) { list, report in
      for (needed, line, reason) in neededVersions(list) where list.version < needed {
        report(line, "\(reason) needs version \(needed), and the playlist has \(list.version)")
      }
    },
    PlaylistRule(
      "start", "RFC 8216, 4.3.5.2", "EXT-X-START has a TIME-OFFSET."
    ) { list, report in
      for tag in list.all("EXT-X-START") where tag.attributes["TIME-OFFSET"] == nil {
        report(tag.line, "EXT-X-START has no TIME-OFFSET")
      }
    },
    PlaylistRule(
      "uri-lines", "RFC 8216, 4.1",
      "A URI line follows EXTINF or EXT-X-STREAM-INF, and each of those has a URI line."
    ) { list, report in
      for stray in list.strayURIs { report(stray.line, "the URI belongs to no segment or variant") }
      for tag in list.pending { report(tag.line, "no URI follows \(tag.name)") }
    },
  ]

  private static func neededVersions(
    _ list: ParsedPlaylist
  ) -> [(version: Int, line: Int, reason: String)] {
    var needed: [(Int, Int, String)] = []
    if let segment = list.segments.first(where: { $0.durationText?.contains(".") == true }) {
      needed.append((3, segment.line, "a duration that isn't an integer"))
    }
    if let tag = list.first("EXT-X-BYTERANGE") { needed.append((4, tag.line, tag.name)) }
    if let tag = list.first("EXT-X-I-FRAMES-ONLY") { needed.append((4, tag.line, tag.name)) }
    if let tag = list.first("EXT-X-MAP") {
      let version = list.first("EXT-X-I-FRAMES-ONLY") == nil ? 6 : 5
      needed.append((version, tag.line, tag.name))
    }
    for tag in list.all("EXT-X-KEY") {
      if tag.attributes["KEYFORMAT"] != nil { needed.append((5, tag.line, "KEYFORMAT")) }
      if tag.attributes["IV"] != nil { needed.append((2, tag.line, "IV")) }
    }
    if let tag = list.first("EXT-X-SKIP") { needed.append((9, tag.line, tag.name)) }
    return needed
  }
}
