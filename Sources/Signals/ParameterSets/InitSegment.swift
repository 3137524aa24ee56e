/// The init segment of a fragmented movie (ISO/IEC 14496-12, 8.8), for readers that keep the first of several: the samples
/// can carry what differs between them.
package struct InitSegment: Sendable {
  /// What the samples of a track can't carry.
  private struct Track: Hashable {
    let identifier: Int
    let handler: MP4BoxType
    let formats: [MP4BoxType]
    /// The ticks per second; `nil` if they can't be read.
    let timescale: Int?
    /// The channels, sample size and sample rate of audio.
    let sound: [UInt8]
    /// The size of the lengths before NAL units.
    let framing: NALFraming?
  }

  private let tracks: [Track]
  /// The video whose configuration is apart from its samples.
  private let video: (identifier: Int, codec: DisplayOrientationTracker.Codec, lengths: Int)?
  /// Its parameter sets, with lengths; empty if the samples contain them.
  package let sets: [UInt8]

  /// - Returns: `nil` if the bytes have no `moov` box, or not all of it.
  package init?(_ bytes: [UInt8]) {
    guard let box = MP4Boxes(bytes, in: bytes.indices).complete.first(where: { $0.type == "moov" })
    else { return nil }
    let movie = Array(bytes[box.payload])
    var (tracks, sets) = ([Track](), [UInt8]())
    var video: (Int, DisplayOrientationTracker.Codec, Int)?
    for box in MP4Boxes(movie, in: movie.indices) where box.type == "trak" {
      guard let track = MovieTrack(movie, box.payload) else { continue }
      let configuration = Self.configuration(track)
      if video == nil, let configuration, case .lengths(let size) = configuration.framing {
        video = (track.identifier, configuration.codec, size)
        sets = configuration.sets.flatMap { .big($0.unit.count, bytes: size) + $0.unit }
      }
      let header = MP4Boxes.payload(at: "mdia", "mdhd", of: movie, in: box.payload)
      tracks.append(
        Track(
          identifier: track.identifier, handler: track.handler, formats: track.entries.map(\.type),
          timescale: header.flatMap { TrackTimes.timescale(movie, $0) },
          sound: track.handler == "soun"
            ? track.entries.flatMap { $0.bytes.dropFirst(24).prefix(12) } : [],
          framing: configuration?.framing))
    }
    (self.tracks, self.video, self.sets) = (tracks, video, sets)
  }

  private static let configurations: [(MP4BoxType, DisplayOrientationTracker.Codec)] = [
    ("avcC", .h264), ("hvcC", .hevc),
  ]

  private static func configuration(_ track: MovieTrack) -> DecoderConfiguration? {
    guard track.entries.count == 1, let entry = track.entries.first else { return nil }
    for (type, codec) in configurations {
      guard let box = entry.boxes.first(where: { $0.type == type }) else { continue }
      return try? DecoderConfiguration(Array(entry.bytes[box.payload]), codec: codec)
    }
    return nil
  }

  /// Whether a reader of the other can read the samples, if they contain their parameter sets.
  package func isCompatible(with other: Self) -> Bool { tracks == other.tracks }

  // MARK: - Samples

  /// Returns a media segment whose first video sample has the parameter sets in itself.
  ///
  /// - Returns: `nil` if they can't be put there: the sizes of its samples are all the same, or their positions aren't those
  ///   from the fragment on.
  package func withParameterSets(_ segment: [UInt8]) -> [UInt8]? {
    guard let video, !sets.isEmpty else { return segment }
    for fragment in MP4Boxes(segment, in: segment.indices).complete where fragment.type == "moof" {
      let tracks = TrackFragment.all(segment, in: fragment.payload)
      let runs = tracks.filter { $0.identifier == video.identifier }.flatMap(\.runs)
      if let first = runs.first(where: { $0.count > 0 }) {
        return inserting(segment, fragment, tracks, first)
      }
    }
    return segment
  }

  /// - Parameter first: The run that begins with the sample.
  private func inserting(
    _ segment: [UInt8], _ fragment: MP4Box, _ tracks: [TrackFragment], _ first: TrackFragment.Run
  ) -> [UInt8]? {
    guard let offset = first.offset, let size = first.sizePlace,
      tracks.allSatisfy({ $0.isFromFragment || $0.runs.isEmpty })
    else { return nil }
    let start = fragment.whole.lowerBound + offset.value
    let length = segment.numbers(in: size..<size + 4, width: 4)[0]
    guard segment.indices.contains(start), length <= segment.count - start,
      let place = place(in: segment, start..<start + length)
    else { return nil }
    if place.hasSets { return segment }
    var result = segment
    func add(at place: Int, width: Int = 4) {
      let number = result.numbers(in: place..<place + width, width: width)[0]
      result.replaceSubrange(
        place..<place + width, with: [UInt8].big(number &+ sets.count, bytes: width))
    }
    add(at: size)
    for other in tracks.flatMap(\.runs) {
      if let later = other.offset, later.value > offset.value { add(at: later.place) }
    }
    for box in MP4Boxes(segment, in: segment.indices) {
      // An index of the segment says where its fragments were.
      if box.type == "sidx" {
        result.replaceSubrange(
          box.whole.lowerBound + 4..<box.whole.lowerBound + 8, with: "free".utf8)
      }
      guard box.payload.contains(start), box.type == "mdat", box.size != nil else { continue }
      let isLong = box.payload.lowerBound - box.whole.lowerBound == 16
      add(at: box.whole.lowerBound + (isLong ? 8 : 0), width: isLong ? 8 : 4)
    }
    result.insert(contentsOf: sets, at: place.position)
    return result
  }

  /// Returns where parameter sets belong in a sample, which is behind its delimiter, and whether it has some.
  ///
  /// - Returns: `nil` if its lengths don't fit.
  private func place(
    in segment: [UInt8], _ sample: Range<Int>
  ) -> (position: Int, hasSets: Bool)? {
    guard let video else { return nil }
    let codec = video.codec
    let delimiter: UInt8 = codec == .h264 ? 9 : 35
    var reader = ByteReader(segment, sample)
    var (position, hasSets) = (sample.lowerBound, false)
    while reader.count > 0 {
      guard let length = reader.count(video.lengths), let unit = reader.skip(length), length > 0
      else {
        return nil
      }
      let header = [segment[unit.lowerBound]]
      if codec.unitType(header) == delimiter { position = reader.position }
      if codec.unitType(header) == ParameterSet.Kind.sequence.unitType(codec) { hasSets = true }
    }
    return (position, hasSets)
  }
}
