internal import UprightOrientation
internal import UprightSignals

/// Adds the boxes of copied tracks' sample entries that libavformat doesn't write to a finished MP4 or QuickTime
/// file: descriptions of Dolby Vision, of views, of projections (ISO/IEC 14496-12, 8.5.2).
struct SampleEntryBoxes {
  /// The boxes by the index of the track.
  let boxes: [Int: [[UInt8]]]

  /// Returns the index with the boxes in the first sample entry of their track, except those of a type that is there
  /// already. Chunk offsets are unchanged.
  func rebuilt(_ moov: [UInt8]) -> [UInt8] {
    guard let movie = MP4Boxes(moov, in: moov.indices).complete.first else { return moov }
    let tracks = MovieTrack.tracks(inMovie: Array(moov[movie.payload]))
    var track = -1
    func rebuild(_ box: MP4Box, _ path: ArraySlice<MP4BoxType>) -> [UInt8] {
      guard let next = path.first else {
        let present = Set(tracks[track].entries.first?.boxes.map(\.type.bytes) ?? [])
        let added = (boxes[track] ?? []).filter { !present.contains(Array($0[4..<8])) }
        return extended(moov, box, added)
      }
      var payload: [UInt8] = []
      for child in MP4Boxes(moov, in: box.payload).complete {
        if child.type == "trak" { track += 1 }
        let isOnPath = child.type == next && track < tracks.count
        payload += isOnPath ? rebuild(child, path.dropFirst()) : Array(moov[child.whole])
      }
      return MP4Box.bytes(box.type, payload)
    }
    return rebuild(movie, ["trak", "mdia", "minf", "stbl", "stsd"])
  }

  /// Returns a sample description table with `boxes` at the end of its first entry.
  private func extended(_ moov: [UInt8], _ table: MP4Box, _ boxes: [[UInt8]]) -> [UInt8] {
    let entries = MP4Boxes(moov, in: table.entries).complete
    guard let first = entries.first, !boxes.isEmpty else { return Array(moov[table.whole]) }
    let entry = MP4Box.bytes(first.type, moov[first.payload] + boxes.flatMap { $0 })
    let others = entries.dropFirst().flatMap { moov[$0.whole] }
    return MP4Box.bytes(table.type, moov[table.payload.prefix(8)] + entry + others)
  }
}
