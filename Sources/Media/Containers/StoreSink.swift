package import UprightOrientation
package import UprightMediaIO

/// Live HLS in an `HLSStore`, for a session that may move to another machine.
///
/// A segment is saved before a playlist lists it. The playlist of an earlier writer is continued when the first segment
/// is there, not before: until then the earlier writer may still publish, so that a session moves without a gap. Its
/// segments stay listed, and this writer removes them when they leave the playlist. The names of segments are unique
/// to this object, so that no two writers write the same file.
package final class StoreSink: PacketSink {
  private let store: any HLSStore
  private let cutter: SegmentCutter
  private let playlistName: String
  private let fileExtension: String
  /// The start of the names of all files of this run.
  private let prefix: String
  private let segmentDuration: MediaTime
  private var playlist: LivePlaylist
  /// Whether the playlist has been claimed from the earlier writer.
  private var hasClaimed = false
  /// The init segment of the current format.
  private var map: String?
  /// The number of segments so far.
  private var count = 0
  private let comesBack: @Sendable () -> Bool
  private let listing: HLSMedia.Listing?
  private let turns: TurnLog
  /// The size of the present format; `nil` before the first, and for audio.
  private var size: PixelSize?

  /// - Parameters:
  ///   - playlistName: The file name of the playlist.
  ///   - epoch: The number of the writer, which is in the names of its files.
  ///   - comesBack: Called at the end. Returns whether the stream continues, here or elsewhere.
  package init(
    _ media: HLSMedia, in store: any HLSStore, playlistName: String, epoch: Int,
    comesBack: @escaping @Sendable () -> Bool = { false }
  ) {
    self.store = store
    self.playlistName = playlistName
    segmentDuration = media.segmentDuration
    (listing, turns) = (media.listing, media.turns)
    self.comesBack = comesBack
    fileExtension = media.segments.fileExtension
    let stem = playlistName.hasSuffix(".m3u8") ? String(playlistName.dropLast(5)) : playlistName
    prefix = "\(stem)-\(epoch)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    playlist = LivePlaylist(segmentDuration: segmentDuration, log: media.turns)
    cutter = media.cutter(continues: true)
  }

  package func begin(_ description: OutputDescription) { cutter.begin(description) }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    try cutter.write(packet, track: track, format: format, emit: add)
  }

  private func add(_ piece: SegmentCutter.Piece) throws(UprightError) {
    switch piece {
    case .format(let description, let bytes):
      map = nil
      if let bytes {
        let file = "\(prefix)-init-\(count).mp4"
        try store.save(bytes, as: file)
        map = file
      }
      if hasClaimed { playlist.begin(map: map) }
      size = description.hasVideo ? description.format.size : nil
      listing?.begin(description)
    case .segment(let bytes, let start, let duration):
      let file = "\(prefix)-\(count).\(fileExtension)"
      try store.save(bytes, as: file)
      count += 1
      do throws(UprightError) {
        try publish(segment: file, start: start, duration: duration)
      } catch {
        // No playlist lists it.
        store.remove(file)
        throw error
      }
      for file in playlist.takeExpired() { store.remove(file) }
      try listing?.add(bytes: bytes.count, duration: duration)
    // The cutter has no duration of parts.
    case .part: break
    }
  }

  private func publish(
    segment file: String, start: MediaTime, duration: MediaTime
  ) throws(UprightError) {
    let turns = turns.turns(from: start, for: duration, offset: cutter.offset)
    func add() {
      playlist.add(segment: file, duration: duration, start: start)
      for turn in turns { playlist.add(turn, size: size) }
    }
    if hasClaimed {
      add()
      return try store.publish(playlist.text, as: playlistName)
    }
    try store.claim(playlistName) { earlier in
      playlist = LivePlaylist(
        segmentDuration: segmentDuration, log: self.turns, continuing: earlier)
      playlist.begin(map: map)
      add()
      return playlist.text
    }
    hasClaimed = true
  }

  package func finish(isPartial: Bool) throws(UprightError) {
    guard !cutter.isEmpty else { return }
    do throws(UprightError) {
      try cutter.finish(emit: add)
      guard hasClaimed, !comesBack() else { return }
      playlist.end()
      try store.publish(playlist.text, as: playlistName)
      try listing?.finish(isPartial: isPartial)
    } catch {
      // The session has moved, and its next writer publishes already.
      guard error.code == .superseded else { throw error }
    }
  }

  package func abandon() {}
}
