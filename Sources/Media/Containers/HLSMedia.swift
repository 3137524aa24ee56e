package import UprightOrientation
internal import UprightMediaIO

/// One media playlist of an HLS output: how it is cut into segments, and which playlists list it.
package struct HLSMedia {
  /// Its place in the multivariant playlists.
  package struct Listing: Sendable {
    private let playlist: MultivariantPlaylist
    /// Its index among their media playlists.
    private let index: Int

    package init(in playlist: MultivariantPlaylist, at index: Int) {
      (self.playlist, self.index) = (playlist, index)
    }

    /// The names of the output of a stopped run; empty if it isn't partial.
    var partialPaths: [String] { playlist.partialPaths }

    func begin(_ description: OutputDescription) { playlist.begin(description, of: index) }

    func add(bytes: Int, duration: MediaTime) throws(UprightError) {
      try playlist.add(bytes: bytes, duration: duration, to: index)
    }

    func finish(isPartial: Bool) throws(UprightError) {
      try playlist.finish(index, isPartial: isPartial)
    }

    func abandon() { playlist.abandon() }
  }

  let segments: any HLSSegments
  let segmentDuration: MediaTime
  /// Which tracks the segments hold.
  let content: SegmentCutter.Content
  /// `nil` if no playlist lists it.
  let listing: Listing?
  /// The turns that it lists.
  let turns: TurnLog
  /// The number of the first segment of a live playlist that continues no earlier one.
  let firstSegment: Int

  package init(
    _ segments: any HLSSegments, segmentDuration: MediaTime,
    content: SegmentCutter.Content = .all, listing: Listing? = nil, turns: TurnLog = TurnLog(),
    firstSegment: Int = 0
  ) {
    (self.turns, self.firstSegment) = (turns, firstSegment)
    (self.segments, self.segmentDuration) = (segments, segmentDuration)
    (self.content, self.listing) = (content, listing)
  }

  /// The cutter of its segments.
  ///
  /// - Parameters:
  ///   - first: The number of the first segment.
  ///   - continues: Whether its first segment may follow those of an earlier run.
  func cutter(
    partDuration: MediaTime? = nil, first: Int = 0, continues: Bool = false
  ) -> SegmentCutter {
    SegmentCutter(
      segments, duration: segmentDuration, partDuration: partDuration, content: content,
      first: first, continues: continues)
  }
}
