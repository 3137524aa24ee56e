package import UprightOrientation

/// Changes the orientation of an MP4, MOV, M4V or 3GP file, fragmented or not: the matrices of the tracks that are
/// shown (ISO/IEC 14496-12, 8.3.2), and the signals in their samples that readers prefer to it.
package struct MovieTag {
  let file: any ByteFile
  let orientation: ImageOrientation
  let index: TaggedMovie
  let tracks: [TaggedTrack]
  /// The tracks whose frames are shown: together, or one instead of another.
  let shown: [TaggedTrack]

  /// Returns the edits that give the movie in `file` an orientation.
  ///
  /// - Parameter isForced: Whether a stereoscopic or spherical description may become wrong.
  /// - Throws: `badData` if there is no complete index or no video, or if a turn makes a description wrong.
  package static func patch(
    _ file: any ByteFile, _ orientation: ImageOrientation, isForced: Bool = false
  ) throws(UprightError) -> OrientationPatch {
    let tag = try MovieTag(file, orientation)
    if !isForced { try tag.checkDescriptions() }
    return try tag.patch()
  }

  init(_ file: any ByteFile, _ orientation: ImageOrientation) throws(UprightError) {
    (self.file, self.orientation) = (file, orientation)
    index = try TaggedMovie(file)
    let movie = index.movie
    if MP4Boxes.payload(at: "cmov", of: movie, in: movie.indices) != nil {
      throw UprightError(
        .badData, "the index is compressed (cmov)", remedy: "use transcode to turn the frames")
    }
    tracks = MP4Boxes(movie, in: movie.indices).compactMap {
      $0.type == "trak" ? TaggedTrack(movie, $0.payload) : nil
    }
    shown = Self.shown(tracks, movie)
    guard !shown.isEmpty else {
      throw UprightError(
        .badData, "there is no video stream", remedy: "give an input with video")
    }
  }

  /// Returns the enabled video tracks with their alternates, or all if none is enabled. Pictures of chapters,
  /// thumbnails, and depth or alpha planes aren't shown by themselves.
  private static func shown(_ tracks: [TaggedTrack], _ movie: [UInt8]) -> [TaggedTrack] {
    var auxiliary: Set<Int> = []
    for track in tracks {
      for type: MP4BoxType in ["chap", "thmb"] {
        auxiliary.formUnion(track.references(movie, type))
      }
      for type: MP4BoxType in ["auxl", "vdep", "vplx"]
      where !track.references(movie, type).isEmpty { auxiliary.insert(track.identifier) }
    }
    let videos = tracks.filter { $0.isVideo && !$0.entries.isEmpty }
    let own = videos.filter { !auxiliary.contains($0.identifier) }
    let enabled = own.filter(\.isEnabled)
    guard !enabled.isEmpty else { return own.isEmpty ? videos : own }
    let groups = Set(enabled.map(\.alternateGroup)).subtracting([0])
    return own.filter { $0.isEnabled || groups.contains($0.alternateGroup) }
  }

  /// The orientation of the main track; `nil` if its matrix has none.
  var orientationBefore: ImageOrientation? { shown[0].matrix.orientation }

  /// The size of the main track's frames.
  var size: PixelSize { shown[0].codedSize(index.movie) }

  // MARK: - The edits

  private func patch() throws(UprightError) -> OrientationPatch {
    var patch = OrientationPatch()
    if let edit = movieHeader { patch.add(edit) }
    for track in shown {
      patch.add(edit(of: track))
      for edit in try sampleEdits(of: track) { patch.add(edit) }
    }
    let main = shown[0]
    patch.codec = main.codecName
    patch.size = main.codedSize(index.movie)
    patch.frames = main.sampleCount(index.movie)
    if main.timescale > 0 { patch.duration = Double(main.ticks) / Double(main.timescale) }
    patch.hasLocation = MovieLocation.isPresent(in: index.movie, tracks)
    if let damage = index.damage { patch.damage.append(damage) }
    return try patch.ordered()
  }

  private func edit(of track: TaggedTrack) -> ByteEdit {
    var size = track.size
    if size == (0, 0) {
      let coded = track.codedSize(index.movie)
      size = (UInt32(clamping: coded.width << 16), UInt32(clamping: coded.height << 16))
    }
    let matrix = DisplayMatrix(orientation, scaledAs: track.matrix, size: size)
    return edit(at: track.matrixPlace, matrix)
  }

  private func edit(at place: Range<Int>, _ matrix: DisplayMatrix) -> ByteEdit {
    ByteEdit(
      at: index.position + place.lowerBound, Array(index.movie[place]),
      matrix.values.flatMap { [UInt8].big(Int($0), bytes: 4) })
  }

  /// Removes a turn from the matrix of the whole movie (8.2.2), which some readers apply after a track's.
  private var movieHeader: ByteEdit? {
    guard let header = MP4Boxes.payload(at: "mvhd", of: index.movie, in: index.movie.indices) else {
      return nil
    }
    var reader = ByteReader(index.movie, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 51 : 35) != nil,
      reader.count >= 36
    else { return nil }
    let place = reader.position..<reader.position + 36
    let values = (0..<9).map { _ in Int32(truncatingIfNeeded: reader.integer(4) ?? 0) }
    guard let matrix = DisplayMatrix(values), let turn = matrix.turn, turn.orientation != .up else {
      return nil
    }
    return edit(at: place, .identity)
  }

  // MARK: - Stereoscopic and spherical video

  /// Throws `badData` if the frames are turned and a description of their projection or of their two views isn't.
  private func checkDescriptions() throws(UprightError) {
    guard orientation != .up else { return }
    for track in shown where track.matrix.orientation != orientation {
      guard let name = SpatialDescription.name(of: track, in: index.movie) else { continue }
      throw UprightError(
        .badData, "the video has \(name), which a turn of the frames makes wrong",
        remedy: "add --force to turn the frames alone, or use transcode")
    }
  }
}

extension TaggedTrack {
  /// FFmpeg's name of the codec of the first sample entry, or its four characters.
  var codecName: String {
    guard let type = entries.first?.type else { return "" }
    switch type.description {
    case "avc1", "avc2", "avc3", "avc4", "dva1", "dvav": return "h264"
    case "hvc1", "hvc2", "hev1", "hev2", "dvh1", "dvhe": return "hevc"
    case "av01", "dav1": return "av1"
    case "vp08": return "vp8"
    case "vp09": return "vp9"
    case "mp4v": return "mpeg4"
    case "s263", "h263": return "h263"
    case "jpeg", "mjpa", "mjpb": return "mjpeg"
    case "apch", "apcn", "apcs", "apco", "ap4h", "ap4x": return "prores"
    default:
      return String(decoding: type.bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }
  }
}
