/// The init segment of a fragmented movie (ISO/IEC 14496-12, 8.8), for readers that keep the first of several: the samples
/// can carry what differs between them.
package struct InitSegment: Sendable, Hashable {
  /// What the samples of a track can't carry.
  private struct Track: Hashable {
    let identifier: Int
    let handler: MP4BoxType
    let formats: [MP4BoxType]
    /// The ticks per second.
    let tick: [UInt8]
    /// The channels, sample size and sample rate of audio.
    let sound: [UInt8]
    /// The size of the lengths before NAL units.
    let framing: NALFraming?
  }

  private let tracks: [Track]
  /// The video whose configuration is apart from its samples.
  private let video: (identifier: Int, configuration: DecoderConfiguration)?

  /// The parameter sets, with lengths; empty if the samples contain them.
  private var sets: [UInt8] {
    guard let video, case .lengths(let size) = video.configuration.framing else { return [] }
    return video.configuration.sets.flatMap { .big($0.unit.count, bytes: size) + $0.unit }
  }

  /// - Returns: `nil` if the bytes have no `moov` box, or not all of it.
  package init?(_ bytes: [UInt8]) {
    guard let box = MP4Boxes(bytes, in: bytes.indices).complete.first(where: { $0.type == "moov" })
    else { return nil }
    let movie = Array(bytes[box.payload])
    var video: (Int, DecoderConfiguration)?
    var tracks: [Track] = []
    for box in MP4Boxes(movie, in: movie.indices) where box.type == "trak" {
      guard let track = MovieTrack(movie, box.payload) else { continue }
      let configuration = Self.configuration(track)
      if let configuration, video == nil { video = (track.identifier, configuration) }
      let header = MP4Boxes.payload(at: "mdia", "mdhd", of: movie, in: box.payload) ?? 0..<0
      // Two times are before the ticks, longer ones in version 1 (ISO/IEC 14496-12, 8.4.2).
      let times = movie[header].first == 1 ? 16 : 8
      tracks.append(
        Track(
          identifier: track.identifier, handler: track.handler, formats: track.entries.map(\.type),
          tick: Array(movie[header.dropFirst(4 + times).prefix(4)]),
          sound: track.handler == "soun"
            ? track.entries.flatMap { $0.bytes.dropFirst(24).prefix(12) } : [],
          framing: configuration?.framing))
    }
    (self.tracks, self.video) = (tracks, video)
  }

  private static func configuration(_ track: MovieTrack) -> DecoderConfiguration? {
    guard track.entries.count == 1, let entry = track.entries.first else { return nil }
    for (type, codec) in [("avcC", DisplayOrientationTracker.Codec.h264), ("hvcC", .hevc)] {
      let type = MP4BoxType(stringLiteral: type)
      guard let box = entry.boxes.first(where: { $0.type == type }) else { continue }
      return try? DecoderConfiguration(
        Array(entry.bytes(of: box).dropFirst(box.payload.lowerBound - box.whole.lowerBound)),
        codec: codec)
    }
    return nil
  }

  package static func == (one: Self, other: Self) -> Bool {
    one.isCompatible(with: other) && one.sets == other.sets
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(tracks) }

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
      let runs = runs(segment, fragment)
      guard runs.contains(where: { $0.identifier == video.identifier && $0.count > 0 }) else {
        continue
      }
      return inserting(segment, fragment, runs)
    }
    return segment
  }

  /// A run of samples in a fragment (8.8.8).
  private struct Run {
    let identifier: Int
    let count: Int
    /// The position of the number that says where its data begins, and that number, counted from the fragment.
    let offset: (place: Int, value: Int)?
    /// The position of the size of its first sample.
    let size: Int?
    /// Whether its data is where `offset` says.
    let isFromFragment: Bool
  }

  private func runs(_ segment: [UInt8], _ fragment: MP4Box) -> [Run] {
    var runs: [Run] = []
    let boxes = MP4Boxes(segment, in: fragment.payload).filter { $0.type == "traf" }
    for (index, box) in boxes.enumerated() {
      guard let header = MP4Boxes.payload(at: "tfhd", of: segment, in: box.payload),
        case var reader = ByteReader(segment, header), let flags = reader.count(4),
        let identifier = reader.count(4)
      else { continue }
      // Neither base-data-offset, nor that which follows from the track before.
      let isFromFragment = flags & 1 == 0 && (flags & 0x20000 != 0 || index == 0)
      for run in MP4Boxes(segment, in: box.payload) where run.type == "trun" {
        var reader = ByteReader(segment, run.payload)
        guard let flags = reader.count(4), let count = reader.count(4) else { continue }
        let place = reader.position
        let offset = flags & 1 != 0 ? reader.count(4) : nil
        if flags & 4 != 0 { reader.skip(4) }
        if flags & 0x100 != 0 { reader.skip(4) }
        let size = flags & 0x200 != 0 && reader.count >= 4 ? reader.position : nil
        runs.append(
          Run(
            identifier: identifier, count: count,
            offset: offset.map { (place, Int(Int32(truncatingIfNeeded: $0))) }, size: size,
            isFromFragment: isFromFragment))
      }
    }
    return runs
  }

  private func inserting(_ segment: [UInt8], _ fragment: MP4Box, _ runs: [Run]) -> [UInt8]? {
    guard let video, let run = runs.first(where: { $0.identifier == video.identifier }),
      let offset = run.offset, let size = run.size, runs.allSatisfy(\.isFromFragment)
    else { return nil }
    let start = fragment.whole.lowerBound + offset.value
    let length = segment.numbers(in: size..<size + 4, width: 4)[0]
    guard segment.indices.contains(start), length <= segment.count - start,
      let place = place(in: segment, start..<start + length)
    else { return nil }
    if place.hasSets { return segment }
    var result = segment
    let sets = sets
    func add(at place: Int, width: Int = 4) {
      let number = result.numbers(in: place..<place + width, width: width)[0]
      result.replaceSubrange(
        place..<place + width, with: [UInt8].big(number &+ sets.count, bytes: width))
    }
    add(at: size)
    for other in runs {
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
    guard let video, case .lengths(let size) = video.configuration.framing else { return nil }
    let codec = video.configuration.codec
    let delimiter: UInt8 = codec == .h264 ? 9 : 35
    var reader = ByteReader(segment, sample)
    var (position, hasSets) = (sample.lowerBound, false)
    while reader.count > 0 {
      guard let length = reader.count(size), let unit = reader.skip(length), length > 0 else {
        return nil
      }
      let header = [segment[unit.lowerBound]]
      if codec.unitType(header) == delimiter { position = reader.position }
      if codec.unitType(header) == ParameterSet.Kind.sequence.unitType(codec) { hasSets = true }
    }
    return (position, hasSets)
  }
}
