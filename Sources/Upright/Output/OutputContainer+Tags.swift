/// Where a file's tags go. Matroska and FLV take any name; MPEG-TS and Y4M take none. MP4 and QuickTime
/// have a fixed set of names that every player knows ('udta', 'ilst'), and beside it, instead of it,
/// QuickTime's list of any names ('keys'), which few players look into.
extension OutputContainer {
  /// Whether tags are written as a list of any names: where nothing stands in the fixed set that a
  /// player would miss.
  func listsAnyTags(_ tags: [String: String]) -> Bool {
    guard let fixed = fixedTags, self == .mp4 || self == .mov else { return false }
    let names = tags.keys.filter { $0 != "creation_time" }
    return !names.isEmpty && !names.contains { fixed.contains(Self.base($0)) }
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

  /// Names among `tags` that do not go into the output, in order.
  func tagsWithoutPlace(_ tags: [String: String]) -> [String] {
    guard let fixed = fixedTags, !listsAnyTags(tags) else { return [] }
    return tags.keys.filter { !fixed.contains(Self.base($0)) }.sorted()
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
