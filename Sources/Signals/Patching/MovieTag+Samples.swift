internal import UprightOrientation

/// Signals in samples, which readers prefer to a track's matrix.
extension MovieTag {
  /// Returns the edits that remove the orientation from a track's samples, or change it there.
  func sampleEdits(of track: TaggedTrack) throws(UprightError) -> [ByteEdit] {
    var edits = try timedEdits(of: track)
    if track.codecName == "mjpeg" { edits += try imageEdits(of: track) }
    for entry in track.entries.prefix(1) {
      // An encrypted entry (`encv`) has such boxes too, and its samples can't be read.
      guard entry.type != "encv" else { break }
      for box in track.boxes(index.movie, in: entry) {
        switch box.type {
        case "avcC": edits += try messageEdits(of: track, .h264, box.payload)
        case "hvcC":
          edits += try messageEdits(of: track, .hevc, box.payload) + configurationEdits(box.payload)
        default: continue
        }
      }
    }
    return edits
  }

  private func messageEdits(
    of track: TaggedTrack, _ codec: DisplayOrientationTracker.Codec, _ configuration: Range<Int>
  ) throws(UprightError) -> [ByteEdit] {
    guard
      var patch = MessagePatch(file, codec: codec, configuration: index.movie[configuration])
    else { return [] }
    var edits: [ByteEdit] = []
    try MovieSamples(index, track, in: file).forEach { (sample) throws(UprightError) in
      edits += try patch.edits(in: sample)
    }
    return edits
  }

  /// Returns the edits of SEI in an HEVC configuration (ISO/IEC 14496-15, 8.3.3.1.2).
  func configurationEdits(_ range: Range<Int>) throws(UprightError) -> [ByteEdit] {
    let movie = index.movie
    guard let patch = MessagePatch(file, codec: .hevc, configuration: movie[range]) else {
      return []
    }
    var reader = ByteReader(movie, range)
    guard reader.skip(22) != nil, let arrays = reader.count(1) else { return [] }
    var edits: [ByteEdit] = []
    for _ in 0..<arrays {
      guard let type = reader.count(1), let units = reader.count(2) else { break }
      for _ in 0..<units {
        guard let size = reader.count(2), let unit = reader.skip(size) else { return edits }
        guard [39, 40].contains(type & 0x3F) else { continue }
        let place = index.position + unit.lowerBound
        if let edit = try patch.edit(of: Array(movie[unit]), at: place) { edits.append(edit) }
      }
    }
    return edits
  }

  /// Returns the edits of the EXIF data in frames of Motion JPEG.
  private func imageEdits(of track: TaggedTrack) throws(UprightError) -> [ByteEdit] {
    var edits: [ByteEdit] = []
    try MovieSamples(index, track, in: file).forEach { (sample) throws(UprightError) in
      guard let image = try? JPEGTag(FilePart(file: file, range: sample)) else { return }
      edits += image.presentEdits(orientation)
        .map { ByteEdit(at: sample.lowerBound + $0.offset, $0.old, $0.new) }
    }
    return edits
  }

  /// Returns the edits that make a timed track with orientations (`mebx`) constant.
  private func timedEdits(of track: TaggedTrack) throws(UprightError) -> [ByteEdit] {
    var edits: [ByteEdit] = []
    for timed in TimedOrientationTrack.tracks(inMovie: index.movie)
    where timed.describes.isEmpty || timed.describes.contains(track.identifier) {
      guard let own = tracks.first(where: { $0.identifier == timed.identifier }) else { continue }
      try MovieSamples(index, own, in: file).forEach { (sample) throws(UprightError) in
        guard sample.count <= 1 << 16 else { return }
        let bytes = try file.bytes(in: sample)
        guard let place = timed.place(in: bytes), (1...8).contains(place.count) else { return }
        let value = [UInt8].big(orientation.exif, bytes: place.count)
        edits.append(
          ByteEdit(at: sample.lowerBound + place.lowerBound, Array(bytes[place]), value))
      }
    }
    return edits
  }
}
