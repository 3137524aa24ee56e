internal import UprightSignals

/// The segments of a playlist with several init segments (`EXT-X-MAP`), of which libavformat reads the first only: the media
/// segments carry the parameter sets of their own.
struct MappedSegments {
  enum Change {
    case refused
    case replaced([UInt8])
  }

  private var maps: Set<String> = []
  private var hasByteRanges = false
  /// The URIs of segments with those of their init segments, by the last part of their paths.
  private var segments: [Substring: [(segment: String, map: String)]] = [:]
  private var first: InitSegment?
  /// The init segments by their URIs.
  private var known: [String: InitSegment] = [:]

  /// Takes the segments of the playlist as it is now.
  mutating func update(_ playlist: PlaylistText) {
    (maps, hasByteRanges, segments) = (playlist.maps, playlist.hasByteRanges, [:])
    for (line, map) in playlist.mapped {
      let segment = String(decoding: line, as: UTF8.self)
      segments[Self.name(segment), default: []].append((segment, map))
    }
  }

  /// Returns the last part of the path of a URI, which a protocol may precede.
  private static func name(_ uri: String) -> Substring {
    uri.lastIndex { $0 == "/" || $0 == ":" }.map { uri[uri.index(after: $0)...] } ?? uri[...]
  }

  /// Returns how a file is changed for libavformat; `nil` if it is read as it is.
  ///
  /// - Parameters:
  ///   - url: Its URL.
  ///   - bytes: The first of its bytes.
  ///   - whole: Reads all of them, which are those of `url` alone; `nil` if there are too many.
  mutating func change(of url: String, _ bytes: [UInt8], whole: () -> [UInt8]?) -> Change? {
    if let uri = maps.first(where: { PlaylistText.contains(url, in: [$0]) }) {
      guard let initial = InitSegment(bytes) else { return nil }
      known[uri] = initial
      first = first ?? initial
      return first?.isCompatible(with: initial) == false ? .refused : nil
    }
    let listed = segments[Self.name(url)]?.first { PlaylistText.contains(url, in: [$0.segment]) }
    guard let initial = listed.flatMap({ known[$0.map] }) else { return nil }
    if hasByteRanges { return initial.sets == first?.sets ? nil : .refused }
    guard let segment = whole(), let changed = initial.withParameterSets(segment) else {
      return .refused
    }
    return .replaced(changed)
  }
}
