/// A file's tags as its container holds them.
package struct PlacedTags {
  /// What is written.
  package var written: [String: String] = [:]
  /// Whether it is written as QuickTime's list of any names.
  package var isList = false
  /// Names that have no place, in order.
  package var withoutPlace: [String] = []

  package init(written: [String: String] = [:], isList: Bool = false, withoutPlace: [String] = []) {
    self.written = written
    self.isList = isList
    self.withoutPlace = withoutPlace
  }
}

/// Where a file's tags go. Matroska and FLV take any name; MPEG-TS and Y4M take none. MP4 and QuickTime
/// have a fixed set of names that every player knows ('udta', 'ilst'), and beside it, instead of it,
/// QuickTime's list of any names ('keys'), which few players look into.
extension OutputContainer {
  /// Where each of `tags` goes.
  package func place(_ tags: [String: String]) -> PlacedTags {
    guard let fixed = fixedTags else { return PlacedTags(written: tags) }
    let isFixed = { fixed.contains(Self.base($0)) }
    let names = tags.keys.filter { $0 != "creation_time" }
    let isApple = names.contains { $0.hasPrefix(Self.apple) }
    // Apple's own programs read the list, everyone else a title in the fixed set.
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

  /// Whether it holds any tags at all.
  package var hasTags: Bool { fixedTags?.isEmpty != true }

  /// What Apple's names in the list begin with (QuickTime File Format, "Metadata keys").
  private static let apple = "com.apple.quicktime."

  /// What the fixed sets call what Apple's name says; `nil` if it is none of Apple's.
  private static func plain(_ name: String) -> String? {
    guard name.hasPrefix(apple) else { return nil }
    let plain = String(name.dropFirst(apple.count))
    return plain == "creationdate" ? "date" : plain
  }

  private static func isOfCamera(_ tag: String) -> Bool {
    ["make", "model", "date", "location", "encoder"].contains(base(tag))
  }

  /// Every name as Apple's list has it; one that is there under both is written once.
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

  /// A language's code as the container has it: QuickTime's table has one of ISO 639-2's two codes for
  /// a language that has two.
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

  /// The names that go in; nil where all do.
  private var fixedTags: Set<String>? {
    switch self {
    case .matroska, .webm, .flv: nil
    case .mpegts, .hlsTS, .y4m: []
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

  /// A tag's name without its language (`title-eng`); Matroska writes names in capitals.
  private static func base(_ tag: String) -> String {
    let name = tag.lowercased()
    guard let dash = name.lastIndex(of: "-"),
      name.distance(from: dash, to: name.endIndex) == 4
    else { return name }
    return String(name[..<dash])
  }
}
