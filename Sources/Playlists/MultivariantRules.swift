/// Multivariant playlists: their variants and renditions.
extension PlaylistRule {
  static let multivariant = [
    PlaylistRule(
      "bandwidth", "RFC 8216, 4.3.4.2",
      "EXT-X-STREAM-INF and EXT-X-I-FRAME-STREAM-INF have a BANDWIDTH; AVERAGE-BANDWIDTH isn't larger."
    ) { list, report in
      for tag in list.all("EXT-X-STREAM-INF") + list.all("EXT-X-I-FRAME-STREAM-INF") {
        guard let peak = tag.attributes.integer("BANDWIDTH"), peak > 0 else {
          report(tag.line, "\(tag.name) has no BANDWIDTH")
          continue
        }
        guard tag.attributes["AVERAGE-BANDWIDTH"] != nil else { continue }
        if !(0...peak).contains(tag.attributes.integer("AVERAGE-BANDWIDTH") ?? .max) {
          report(tag.line, "AVERAGE-BANDWIDTH is no bandwidth, or above BANDWIDTH")
        }
      }
    },
    PlaylistRule(
      "codecs", "RFC 8216, 4.3.4.2", "EXT-X-STREAM-INF has CODECS.", level: .should
    ) { list, report in
      for tag in list.all("EXT-X-STREAM-INF") where tag.attributes.quoted("CODECS") == nil {
        report(tag.line, "EXT-X-STREAM-INF has no CODECS")
      }
    },
    PlaylistRule(
      "resolution", "RFC 8216, 4.2 and 4.3.4.2",
      "RESOLUTION is WIDTHxHEIGHT, and FRAME-RATE is a number."
    ) { list, report in
      for tag in list.all("EXT-X-STREAM-INF") + list.all("EXT-X-I-FRAME-STREAM-INF") {
        let attributes = tag.attributes
        if let text = attributes["RESOLUTION"] {
          let parts = text.split(separator: "x", omittingEmptySubsequences: false)
          if parts.count != 2 || parts.contains(where: { (PlaylistNumber.integer($0) ?? 0) <= 0 }) {
            report(tag.line, "RESOLUTION isn't WIDTHxHEIGHT")
          }
        }
        if attributes["FRAME-RATE"] != nil, (attributes.seconds("FRAME-RATE") ?? 0) <= 0 {
          report(tag.line, "FRAME-RATE isn't a positive number")
        }
      }
    },
    PlaylistRule(
      "rendition", "RFC 8216, 4.3.4.1", "EXT-X-MEDIA has a TYPE, a GROUP-ID and a NAME."
    ) { list, report in
      for tag in list.all("EXT-X-MEDIA") {
        let attributes = tag.attributes
        let types = ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"]
        if !types.contains(attributes["TYPE"] ?? "") {
          report(tag.line, "EXT-X-MEDIA has no TYPE")
        }
        for name in ["GROUP-ID", "NAME"] where attributes.quoted(name) == nil {
          report(tag.line, "EXT-X-MEDIA has no \(name)")
        }
      }
    },
    PlaylistRule(
      "rendition-group", "RFC 8216, 4.3.4.1.1",
      "Renditions of one group have different names, and at most one is the default; a default is selected "
        + "automatically."
    ) { list, report in
      var (names, defaults): (Set<[String]>, Set<[String]>) = ([], [])
      for tag in list.all("EXT-X-MEDIA") {
        let attributes = tag.attributes
        let group = [attributes["TYPE"] ?? "", attributes["GROUP-ID"] ?? ""]
        if !names.insert(group + [attributes["NAME"] ?? ""]).inserted {
          report(tag.line, "the group has another rendition with this NAME")
        }
        guard attributes["DEFAULT"] == "YES" else { continue }
        if !defaults.insert(group).inserted { report(tag.line, "the group has two defaults") }
        if attributes["AUTOSELECT"] == "NO" {
          report(tag.line, "the default isn't selected automatically")
        }
      }
    },
    PlaylistRule(
      "group-reference", "RFC 8216, 4.3.4.2",
      "AUDIO, VIDEO, SUBTITLES and CLOSED-CAPTIONS of a variant are groups of the playlist."
    ) { list, report in
      let groups = Set(
        list.all("EXT-X-MEDIA").map {
          [$0.attributes["TYPE"] ?? "", $0.attributes["GROUP-ID"] ?? ""]
        })
      for tag in list.all("EXT-X-STREAM-INF") {
        for type in ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"] {
          guard let group = tag.attributes.quoted(type), !groups.contains([type, group]) else {
            continue
          }
          report(tag.line, "there is no EXT-X-MEDIA of the group \(type)=\"\(group)\"")
        }
      }
    },
    PlaylistRule(
      "i-frame-uri", "RFC 8216, 4.3.4.3", "EXT-X-I-FRAME-STREAM-INF has a URI."
    ) { list, report in
      for tag in list.all("EXT-X-I-FRAME-STREAM-INF") where tag.attributes.quoted("URI") == nil {
        report(tag.line, "EXT-X-I-FRAME-STREAM-INF has no URI")
      }
    },
    PlaylistRule(
      "session-data", "RFC 8216, 4.3.4.4",
      "EXT-X-SESSION-DATA has a DATA-ID, and a VALUE or a URI."
    ) { list, report in
      for tag in list.all("EXT-X-SESSION-DATA") {
        let attributes = tag.attributes
        let hasOne = (attributes.quoted("VALUE") == nil) != (attributes.quoted("URI") == nil)
        if attributes.quoted("DATA-ID") == nil || !hasOne {
          report(tag.line, "EXT-X-SESSION-DATA has no DATA-ID, or not one of VALUE and URI")
        }
      }
    },
  ]
}
