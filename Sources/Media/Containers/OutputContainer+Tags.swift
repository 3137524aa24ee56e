/// The tags of a file, as its container stores them.
package struct PlacedTags {
  /// The tags that are written.
  package var written: [String: String] = [:]
  /// Whether they are written as QuickTime's list of arbitrary names.
  package var isList = false
  /// The sorted names of the tags that the container can't store.
  package var withoutPlace: [String] = []

  package init(written: [String: String] = [:], isList: Bool = false, withoutPlace: [String] = []) {
    self.written = written
    self.isList = isList
    self.withoutPlace = withoutPlace
  }
}

/// How containers store a file's tags. Matroska and FLV accept any name; MPEG-TS and Y4M store none. MP4 and
/// QuickTime have a fixed set of names that every player reads ('udta', 'ilst'), or alternatively QuickTime's
/// list of arbitrary names ('keys'), which few players read.
extension OutputContainer {
  /// Returns how each of `tags` is stored.
  package func place(_ tags: [String: String]) -> PlacedTags {
    guard let fixed = fixedTags else { return PlacedTags(written: tags) }
    let isFixed = { fixed.contains(Self.base($0)) }
    let names = tags.keys.filter { $0 != "creation_time" }
    let isApple = names.contains { $0.hasPrefix(Self.apple) }
    // Apple's programs read the list; other programs read titles from the fixed set only.
    let canList =
      self == .mov || self == .mp4 && !names.contains { isFixed($0) && !Self.isOfCamera($0) }
    if !names.isEmpty, [.mp4, .mov].contains(self),
      isApple && canList || !names.contains(where: isFixed)
    {
      return PlacedTags(written: isApple ? Self.asApple(tags) : tags, isList: true)
    }
    var placed = PlacedTags()
    for (name, value) in tags where isFixed(name) { placed.written[name] = value }
    for (name, value) in tags where !isFixed(name) {
      guard let plain = Self.plain(name), fixed.contains(plain) else {
        placed.withoutPlace.append(name)
        continue
      }
      placed.written[plain] = placed.written[plain] ?? value
    }
    placed.withoutPlace.sort()
    return placed
  }

  /// Whether the container stores any tags.
  package var hasTags: Bool { fixedTags?.isEmpty != true }

  /// The prefix of Apple's names in the list (QuickTime File Format, "Metadata keys").
  private static let apple = "com.apple.quicktime."

  /// Returns the name in the fixed sets for one of Apple's names; `nil` if `name` is not one of Apple's.
  private static func plain(_ name: String) -> String? {
    guard name.hasPrefix(apple) else { return nil }
    let plain = String(name.dropFirst(apple.count))
    return plain == "creationdate" ? "date" : plain
  }

  private static func isOfCamera(_ tag: String) -> Bool {
    ["make", "model", "date", "location", "encoder"].contains(base(tag))
  }

  /// Returns the tags with Apple's names. A tag that is present under both names is written once.
  private static func asApple(_ tags: [String: String]) -> [String: String] {
    var listed = tags.filter { $0.key.hasPrefix(apple) || !$0.key.contains("-") }
    for (name, value) in listed
    where !name.contains(".") && !["creation_time", "location"].contains(name) {
      listed[name] = nil
      let other = apple + (name == "date" ? "creationdate" : name)
      listed[other] = listed[other] ?? value
    }
    return listed
  }

  /// Returns the code of a language as the container stores it. ISO 639-2 has two codes for some languages;
  /// QuickTime's table has only one of them.
  func language(_ code: String) -> String {
    guard self == .mov else { return code }
    let other = [
      "deu": "ger", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi", "sqi": "alb",
      "fas": "per", "hye": "arm", "kat": "geo", "eus": "baq", "cym": "wel", "mya": "bur",
      "bod": "tib", "msa": "may", "mkd": "mac", "fre": "fra", "rum": "ron", "cze": "ces",
      "slo": "slk",
    ]
    return other[code] ?? code
  }

  /// The names that the container accepts; `nil` if it accepts any name.
  private var fixedTags: Set<String>? {
    switch self {
    case .matroska, .webm, .flv: nil
    case .mpegts, .hlsTS, .y4m, .rtsp: []
    case .mov:
      [
        "creation_time", "title", "artist", "album", "date", "encoder", "comment", "genre",
        "copyright", "make", "model", "location",
      ]
    case .mp4, .hls:
      [
        "creation_time", "title", "artist", "album_artist", "composer", "album", "date", "encoder",
        "comment", "genre", "copyright", "grouping", "lyrics", "description", "synopsis", "show",
        "episode_id", "network", "keywords", "episode_sort", "season_number", "media_type",
        "hd_video", "gapless_playback", "compilation", "track", "disc", "location",
      ]
    }
  }

  /// Returns a tag's name in lower case, without its language (`title-eng`). Matroska writes names in
  /// capitals.
  private static func base(_ tag: String) -> String {
    let name = tag.lowercased()
    guard let dash = name.lastIndex(of: "-"),
      name.distance(from: dash, to: name.endIndex) == 4
    else { return name }
    return String(name[..<dash])
  }
}
