internal import UprightSignals

/// The segments of a playlist with several init segments (`EXT-X-MAP`), of which libavformat reads the first only: the media
/// segments carry the parameter sets of their own.
struct MappedSegments {
  enum Change {
    case refused
    case replaced([UInt8])
  }

  /// The newest text of the playlist.
  var playlist: PlaylistText
  private var first: InitSegment?
  /// The init segments by their URIs.
  private var known: [String: InitSegment] = [:]

  init(_ playlist: PlaylistText) { self.playlist = playlist }

  /// Returns how a file is changed for libavformat; `nil` if it is read as it is.
  ///
  /// - Parameters:
  ///   - url: Its URL.
  ///   - bytes: The first of its bytes.
  ///   - whole: Reads all of them, which are those of `url` alone; `nil` if there are too many.
  mutating func change(of url: String, _ bytes: [UInt8], whole: () -> [UInt8]?) -> Change? {
    if let uri = playlist.maps.first(where: { PlaylistText.contains(url, in: [$0]) }) {
      guard let initial = InitSegment(bytes) else { return nil }
      known[uri] = initial
      first = first ?? initial
      return first?.isCompatible(with: initial) == false ? .refused : nil
    }
    guard let initial = playlist.map(ofSegment: url).flatMap({ known[$0] }) else { return nil }
    if playlist.hasByteRanges { return initial == first ? nil : .refused }
    guard let segment = whole(), let changed = initial.withParameterSets(segment) else {
      return .refused
    }
    return .replaced(changed)
  }
}
