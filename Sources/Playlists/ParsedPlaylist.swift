/// A playlist as its lines say. What can't be read is left out, and some rule tells of it.
struct ParsedPlaylist: Sendable {
  /// A tag and its line's number, from 1.
  struct Tag: Sendable {
    let line: Int
    let name: String
    /// The text after the colon; `nil` without one.
    let value: String?

    var attributes: AttributeList { AttributeList(value ?? "") }
  }

  struct Part: Sendable {
    let line: Int
    let uri: String
    let duration: Double
    let isIndependent: Bool
    let isGap: Bool
    let byteRange: String?
  }

  struct Segment: Sendable {
    /// The line of the URI, or of the first part if the segment isn't complete.
    var line: Int
    /// Empty if the segment isn't complete.
    var uri = ""
    var sequence = 0
    /// The discontinuity sequence number.
    var discontinuity = 0
    var duration: Double?
    /// EXTINF's text.
    var durationText: String?
    var map: String?
    var isDiscontinuous = false
    var date: String?
    var byteRange: Tag?
    var isGap = false
    var parts: [Part] = []
    /// The tags between its first part and its URI that had to come before the part.
    var lateTags: [Tag] = []
  }

  /// The lines without line feeds; those that aren't blank count.
  let lines: [String]
  private(set) var tags: [Tag] = []
  private(set) var mediaSequence = 0
  private(set) var discontinuitySequence = 0
  /// The number of segments that a delta update leaves out.
  private(set) var skipped = 0
  private(set) var segments: [Segment] = []
  /// The segment that isn't complete, if it has parts.
  private(set) var open: Segment?
  /// The URIs that no EXTINF or EXT-X-STREAM-INF precedes, and their lines.
  private(set) var strayURIs: [(line: Int, uri: String)] = []
  /// The tags that need a URI line after them and have none.
  private(set) var pending: [Tag] = []
  /// The variants of a multivariant playlist, and their URIs.
  private(set) var variants: [(tag: Tag, uri: String)] = []

  private static let segmentTags: Set<String> = [
    "EXTINF", "EXT-X-BYTERANGE", "EXT-X-DISCONTINUITY", "EXT-X-KEY", "EXT-X-MAP",
    "EXT-X-PROGRAM-DATE-TIME", "EXT-X-GAP", "EXT-X-BITRATE", "EXT-X-PART",
  ]
  private static let mediaTags: Set<String> = segmentTags.union([
    "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE", "EXT-X-DISCONTINUITY-SEQUENCE",
    "EXT-X-ENDLIST", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY", "EXT-X-PART-INF",
    "EXT-X-SERVER-CONTROL", "EXT-X-DATERANGE", "EXT-X-SKIP", "EXT-X-PRELOAD-HINT",
    "EXT-X-RENDITION-REPORT",
  ])
  private static let multivariantTags: Set<String> = [
    "EXT-X-MEDIA", "EXT-X-STREAM-INF", "EXT-X-I-FRAME-STREAM-INF", "EXT-X-SESSION-DATA",
    "EXT-X-SESSION-KEY", "EXT-X-CONTENT-STEERING",
  ]

  /// The longest playlist that is read, in lines. The rest is left out.
  static let longest = 100_000

  init(_ text: String) {
    lines = text.split(
      maxSplits: Self.longest, omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).prefix(Self.longest).map(String.init)
    read()
  }

  private mutating func read() {
    var segment: Segment?
    var map: String?
    var variant: Tag?
    var waiting: [Tag] = []
    for (index, line) in lines.enumerated() where !line.isEmpty {
      let number = index + 1
      if line.hasPrefix("#") {
        guard line.hasPrefix("#EXT") else { continue }
        let name = line.dropFirst().prefix { $0 != ":" }
        let value = line.dropFirst(name.count + 2)
        let hasValue = line.dropFirst(name.count + 1).first == ":"
        let tag = Tag(line: number, name: String(name), value: hasValue ? String(value) : nil)
        tags.append(tag)
        if tag.name == "EXT-X-STREAM-INF" {
          if let variant { pending.append(variant) }
          variant = tag
        }
        guard Self.segmentTags.contains(tag.name) else { continue }
        if tag.name == "EXT-X-MAP" { map = tag.attributes["URI"] }
        if ["EXTINF", "EXT-X-BYTERANGE"].contains(tag.name) { waiting.append(tag) }
        Self.apply(tag, to: &segment, map: map)
      } else if let tag = variant.take() {
        variants.append((tag, line))
      } else if var complete = segment.take(), complete.durationText != nil {
        (complete.line, complete.uri) = (number, line)
        waiting = []
        segments.append(complete)
      } else {
        strayURIs.append((number, line))
      }
    }
    if let variant { pending.append(variant) }
    pending += waiting
    if let segment, !segment.parts.isEmpty { open = segment }
    number()
  }

  /// Numbers the segments. All numbers have 18 digits at most, so that no sum overflows.
  private mutating func number() {
    mediaSequence = number("EXT-X-MEDIA-SEQUENCE") ?? 0
    discontinuitySequence = number("EXT-X-DISCONTINUITY-SEQUENCE") ?? 0
    skipped = first("EXT-X-SKIP")?.attributes.integer("SKIPPED-SEGMENTS") ?? 0
    var discontinuity = discontinuitySequence
    for index in segments.indices {
      if segments[index].isDiscontinuous { discontinuity += 1 }
      segments[index].sequence = mediaSequence + skipped + index
      segments[index].discontinuity = discontinuity
    }
    if open?.isDiscontinuous == true { discontinuity += 1 }
    open?.sequence = mediaSequence + skipped + segments.count
    open?.discontinuity = discontinuity
  }

  private static func apply(_ tag: Tag, to segment: inout Segment?, map: String?) {
    var changed = segment ?? Segment(line: tag.line)
    changed.map = map
    let attributes = tag.attributes
    switch tag.name {
    case "EXTINF":
      changed.durationText = tag.value ?? ""
      changed.duration = PlaylistNumber.seconds((tag.value ?? "").prefix { $0 != "," })
    case "EXT-X-BYTERANGE": changed.byteRange = tag
    case "EXT-X-DISCONTINUITY": changed.isDiscontinuous = true
    case "EXT-X-PROGRAM-DATE-TIME": changed.date = tag.value
    case "EXT-X-GAP": changed.isGap = true
    case "EXT-X-PART":
      if changed.parts.isEmpty { changed.line = tag.line }
      changed.parts.append(
        Part(
          line: tag.line, uri: attributes.quoted("URI") ?? "",
          duration: attributes.seconds("DURATION") ?? 0,
          isIndependent: attributes["INDEPENDENT"] == "YES", isGap: attributes["GAP"] == "YES",
          byteRange: attributes.quoted("BYTERANGE")))
    default: break
    }
    let isLate = [
      "EXT-X-DISCONTINUITY", "EXT-X-KEY", "EXT-X-MAP", "EXT-X-PROGRAM-DATE-TIME",
    ].contains(tag.name)
    if isLate, !changed.parts.isEmpty { changed.lateTags.append(tag) }
    segment = changed
  }

  // MARK: - Whole playlists

  func all(_ name: String) -> [Tag] { tags.filter { $0.name == name } }
  func first(_ name: String) -> Tag? { tags.first { $0.name == name } }

  var isMultivariant: Bool { tags.contains { Self.multivariantTags.contains($0.name) } }
  var isMedia: Bool { tags.contains { Self.mediaTags.contains($0.name) } }

  private func number(_ name: String) -> Int? {
    first(name)?.value.flatMap { PlaylistNumber.integer($0) }
  }

  var version: Int { number("EXT-X-VERSION") ?? 1 }
  var targetDuration: Int? { number("EXT-X-TARGETDURATION") }
  var isEnded: Bool { first("EXT-X-ENDLIST") != nil }
  var type: String? { first("EXT-X-PLAYLIST-TYPE")?.value }
  var control: AttributeList? { first("EXT-X-SERVER-CONTROL")?.attributes }
  var partTarget: Double? { first("EXT-X-PART-INF")?.attributes.seconds("PART-TARGET") }
  /// The segments, and the one that isn't complete.
  var allSegments: [Segment] { segments + (open.map { [$0] } ?? []) }
  var hasParts: Bool { tags.contains { $0.name == "EXT-X-PART" } }

  /// The duration of the listed segments, in seconds.
  var duration: Double { segments.reduce(0) { $0 + ($1.duration ?? 0) } }
}
