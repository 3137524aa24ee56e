package import UprightOrientation

/// What an MP4 or MOV file says of its orientation, read from its index and the heads of its samples. The frames
/// themselves aren't read.
package struct MovieInspection: Sendable, Hashable {
  /// The matrix of the track that is shown; `nil` for the identity.
  package let matrix: DisplayMatrix?
  /// The orientation that a timed track gives to all frames; `nil` if there is no such track.
  package let timed: ImageOrientation?
  /// The size of the stored frames.
  package let size: PixelSize
  /// FFmpeg's name of the codec, or the four characters of the sample entry.
  package let codec: String
  /// The shape of pixels, width to height. 1:1 if unknown. HEVC's, in its parameter sets, isn't read: phones write 1:1.
  package let sampleAspectRatio: Rational
  /// Whether the file says where it was taken.
  package let hasLocation: Bool

  /// The codecs whose frames have no orientation, besides H.264 and HEVC, whose messages are looked for.
  private static let plainCodecs: Set<String> = [
    "av1", "vp8", "vp9", "mpeg4", "h263", "prores",
  ]

  /// Inspects `file`.
  ///
  /// - Returns: `nil` if its packets must be read to know: several tracks are shown, the orientation changes or is in
  ///   messages of the bitstream, the file has fragments, is damaged, or has a codec that isn't known here.
  /// - Throws: `badData` if there is no complete index, or no video; what reading throws.
  package init?(_ file: any ByteFile) throws(UprightError) {
    let tag = try MovieTag(file, .up)
    let movie = tag.index.movie
    hasLocation = MovieLocation.isPresent(in: movie, tag.tracks)
    guard tag.shown.count == 1, let track = tag.shown.first, track.entries.count == 1,
      tag.tracks.count(where: \.isVideo) == 1, tag.index.damage == nil,
      tag.index.fragments.isEmpty, !TrackTimes.hasFragments(movie), tag.hasIdentityHeader,
      try !tag.hasMessages(track)
    else { return nil }
    switch try tag.timedOrientation(of: track) {
    case .none: timed = nil
    case .constant(let orientation): timed = orientation
    case .varying: return nil
    }
    (size, codec) = (track.codedSize(movie), track.codecName)
    matrix = track.matrix.isUnturned ? nil : track.matrix
    let shape = MovieTrack.tracks(inMovie: movie).first { $0.identifier == track.identifier }?.shape
    var stream = shape ?? StreamShape()
    if let matrix { stream.scale = matrix.scale }
    let own = tag.ownRatio(of: track)
    sampleAspectRatio = stream.shape(of: size, own: own, first: own).sampleAspectRatio
  }

  fileprivate static func isPlain(_ codec: String) -> Bool { plainCodecs.contains(codec) }
}

extension DisplayMatrix {
  /// Whether the matrix neither turns nor scales. A translation doesn't count.
  fileprivate var isUnturned: Bool {
    (a, b, c, d) == (Self.one, 0, 0, Self.one) && (u, v) == (0, 0)
  }
}

extension MovieTag {
  /// Whether the matrix of the whole movie, which readers combine with a track's, is the identity.
  fileprivate var hasIdentityHeader: Bool {
    guard let header = MP4Boxes.payload(at: "mvhd", of: index.movie, in: index.movie.indices) else {
      return false
    }
    var reader = ByteReader(index.movie, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 51 : 35) != nil,
      reader.count >= 36
    else { return false }
    let values = (0..<9).map { _ in Int32(truncatingIfNeeded: reader.integer(4) ?? 0) }
    return DisplayMatrix(values)?.isUnturned == true
  }

  /// Whether samples of `track` may have messages with an orientation.
  fileprivate func hasMessages(_ track: TaggedTrack) throws(UprightError) -> Bool {
    guard let entry = track.entries.first, entry.type != "encv" else { return true }
    if MovieInspection.isPlain(track.codecName) { return false }
    for box in track.boxes(index.movie, in: entry) {
      let codec: DisplayOrientationTracker.Codec? =
        switch box.type {
        case "avcC": .h264
        case "hvcC": .hevc
        default: nil
        }
      if let codec { return try hasMessages(track, codec, box.payload) }
    }
    return true
  }

  private func hasMessages(
    _ track: TaggedTrack, _ codec: DisplayOrientationTracker.Codec, _ configuration: Range<Int>
  ) throws(UprightError) -> Bool {
    guard
      var patch = MessagePatch(file, codec: codec, configuration: index.movie[configuration])
    else { return true }
    if codec == .hevc, try !configurationEdits(configuration).isEmpty { return true }
    var isFirst = true
    do throws(UprightError) {
      try MovieSamples(index, track, in: file).forEach { (sample) throws(UprightError) in
        if isFirst {
          isFirst = false
          // A start code in place of a length.
          if try file.bytes(in: sample.prefix(4)) == [0, 0, 0, 1] { throw .foundMessage }
        }
        if try !patch.edits(in: sample).isEmpty { throw .foundMessage }
      }
    } catch {
      // Also a message that can't be replaced in place.
      if error.code == .badData { return true }
      throw error
    }
    return isFirst
  }

  fileprivate enum TimedOrientation {
    case none
    case constant(ImageOrientation)
    case varying
  }

  /// Returns the orientation in the samples of the timed track that describes `track`.
  fileprivate func timedOrientation(
    of track: TaggedTrack
  ) throws(UprightError) -> TimedOrientation {
    let timed = TimedOrientationTrack.tracks(inMovie: index.movie).first {
      $0.describes.isEmpty || $0.describes.contains(track.identifier)
    }
    guard let timed else { return .none }
    guard let own = tracks.first(where: { $0.identifier == timed.identifier }),
      let times = TrackTimes.tracks(inMovie: index.movie)
        .first(where: { $0.identifier == timed.identifier }),
      // An empty edit delays the first value.
      times.edits.first.map({ $0.mediaTime == 0 }) ?? true
    else { return .varying }
    var found: Set<TimedOrientationTrack.Value> = []
    try MovieSamples(index, own, in: file).forEach { (sample) throws(UprightError) in
      guard sample.count <= 1 << 16, found.count <= 1 else { return }
      found.insert(timed.value(of: try file.bytes(in: sample)))
    }
    guard found.count <= 1 else { return .varying }
    switch found.first {
    case .orientation(let orientation): return .constant(orientation)
    case nil, .absent: return .none
    case .senseless: return .varying
    }
  }

  /// The sample aspect ratio in the first H.264 sequence parameter set; `nil` if it has none.
  fileprivate func ownRatio(of track: TaggedTrack) -> Rational? {
    guard let entry = track.entries.first,
      let box = track.boxes(index.movie, in: entry).first(where: { $0.type == "avcC" }),
      let configuration = try? DecoderConfiguration(Array(index.movie[box.payload]), codec: .h264),
      let set = configuration.sets.first(where: { $0.kind == .sequence })
    else { return nil }
    return (try? SequenceParameters(set))?.sampleAspectRatio
  }
}

extension UprightError {
  /// Ends a search.
  fileprivate static var foundMessage: UprightError { UprightError(.badData, "there is a message") }
}
