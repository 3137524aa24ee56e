internal import CUprightFFmpeg
internal import UprightOrientation
internal import UprightSignals

/// How a track of an MP4 or MOV file is presented, if its edit list says more than where the track begins.
/// libavformat 5.1 shows hidden pictures, drops held ones, keeps audio that is cut out, and ignores rates.
struct TrackPresentation: Sendable {
  enum Content: Sendable {
    /// Each sample has a time: video, timed metadata, subtitles.
    case samples(PresentedSamples)
    case audio(PresentationMap)
  }

  let content: Content

  /// How far audio is decoded before it is heard, in seconds: the pre-roll of Opus is 80 ms (RFC 7845, 4.6), that
  /// of AAC one frame (ISO/IEC 14496-12, 10.1.2), that of MP3 a few frames.
  static let preroll = MediaTime(1, Rational(1, 10))

  /// The most audio that an edit list hides at the start because an encoder put it there, in samples.
  static let longestPriming: Int64 = 4096

  /// Returns the presentations of the tracks in a file that need one, by `track_ID`.
  ///
  /// - Parameter movie: The file's index.
  static func all(in file: ByteSource, _ movie: MovieContent) -> [Int: TrackPresentation] {
    let tracks = TrackTimes.tracks(inMovie: movie.bytes)
    var fragments: MovieFragments?
    if TrackTimes.hasFragments(movie.bytes) {
      // Few fragmented movies have edits, and their fragments are many.
      guard tracks.contains(where: { !$0.edits.isEmpty }) else { return [:] }
      fragments = MovieFragments(of: movie, in: file)
      guard fragments != nil else { return [:] }
    }
    var found: [Int: TrackPresentation] = [:]
    for track in tracks { found[track.identifier] = TrackPresentation(track, fragments) }
    return found
  }

  /// Returns `nil` if libavformat presents the track as it should, or if its times have no meaning.
  private init?(_ track: TrackTimes, _ fragments: MovieFragments?) {
    switch track.handler {
    case "soun":
      let end = fragments.map { track.mediaDuration(in: $0) } ?? track.mediaDuration
      guard let map = PresentationMap(track, mediaEnd: end), let first = map.pieces.first else {
        return nil
      }
      let isWhole =
        map.pieces.count == 1 && map.hasNormalRate && first.mediaStart <= Self.longestPriming
        && end - first.mediaEnd <= max(map.tolerance, Self.longestPriming)
      if isWhole { return nil }
      content = .audio(map)
    case "vide", "meta", "text", "sbtl", "subt":
      if fragments == nil, Self.isPlain(track) { return nil }
      // A track without an edit list is presented from its first tick to its last one (8.6.6.1).
      guard let times = fragments.map({ track.samples(in: $0) }) ?? track.samples(),
        let map = PresentationMap(track, mediaEnd: times.end)
          ?? (track.edits.isEmpty && times.start >= 0 ? PresentationMap(whole: times.end) : nil),
        let samples = PresentedSamples(map, times, cutsPictures: track.handler != "vide"),
        !samples.isPlain
      else { return nil }
      content = .samples(samples)
    default: return nil
    }
  }

  /// Returns whether a track is presented from its first sample to its last one in the order of decoding. Most are,
  /// and their tables needn't be read.
  private static func isPlain(_ track: TrackTimes) -> Bool {
    guard !track.hasCompositionOffsets else { return false }
    guard !track.edits.isEmpty else { return true }
    let end = track.mediaDuration
    guard let map = PresentationMap(track, mediaEnd: end), map.pieces.count == 1,
      map.hasNormalRate
    else { return false }
    return map.pieces[0].mediaStart == 0 && abs(map.pieces[0].mediaEnd - end) <= map.tolerance
  }

  /// Returns the stream as it is presented.
  func applied(to stream: StreamInfo) -> StreamInfo {
    var stream = stream
    switch content {
    case .samples(let samples):
      stream.startTime = samples.start
      stream.duration = MediaTime(samples.end - samples.start, stream.timeBase)
      stream.frameCount = samples.count
      let isSteady = samples.runs.allSatisfy { $0.piece.rate == TrackTimes.Edit.normalRate }
      stream.editing = isSteady ? .cut : .rate
    case .audio(let map):
      let (start, end) = (map.pieces.first?.start ?? 0, map.pieces.last?.end ?? 0)
      stream.startTime = start
      stream.duration = MediaTime(end - start, stream.timeBase)
      stream.frameCount = 0
      if !map.hasNormalRate {
        stream.editing = .rate
      } else if stream.parameters.pcmFrameSize != nil, map.isGapless {
        // MP4's and MOV's tables store no gap in PCM.
        stream.editing = .none
      } else {
        stream.editing = map.pieces.count == 1 && start == 0 ? .start : .cut
      }
    }
    return stream
  }

  /// Opens a reader of the track.
  func open(
    _ url: String, _ settings: [String: String], stream: StreamInfo, interrupt: Interrupt
  ) throws(UprightError) -> any TrackPresenter {
    let track = try UneditedTrack(url, settings, stream: stream.index, interrupt: interrupt)
    return switch content {
    case .samples(let samples): SamplePresenter(track, samples)
    case .audio(let map):
      AudioPresenter(
        track, map, frameSize: stream.parameters.pcmFrameSize,
        packetSize: stream.parameters.packetSize)
    }
  }
}

/// Reads the packets of one track in the order and at the times at which they are presented. A packet that is
/// decoded and not shown is marked as discarded.
protocol TrackPresenter: AnyObject {
  /// Returns the next packet, or `nil` at the end.
  func next() throws(UprightError) -> Packet?

  /// Goes to a packet from which everything that is presented at `time` and later can be decoded.
  ///
  /// - Returns: When that packet is presented.
  func seek(to time: MediaTime) throws(UprightError) -> MediaTime
}

extension CodecParameters {
  /// The number of samples of each audio packet; 0 if it varies or is unknown.
  var packetSize: Int { Int(raw.pointee.frame_size) }

  /// The size of a sample of all channels, in bytes; `nil` if the stream isn't PCM.
  var pcmFrameSize: Int? {
    let bits = Int(av_get_exact_bits_per_sample(raw.pointee.codec_id))
    guard codecName.hasPrefix("pcm_"), bits >= 8, bits % 8 == 0, channels > 0 else { return nil }
    return bits / 8 * channels
  }
}

extension MovieFragments {
  /// The largest fragment that is read, in bytes.
  private static let largest = 64 << 20

  /// Reads the fragments after the index of a file, up to the first incomplete one. Returns `nil` if one is too large.
  fileprivate init?(of movie: MovieContent, in file: ByteSource) {
    self.init(inMovie: movie.bytes)
    let end = movie.position + movie.bytes.count
    for box in MovieFileBoxes(file, from: end, atMost: 20_000) where box.type == "moof" {
      guard box.payload.count <= Self.largest else { return nil }
      let bytes = file.read(at: box.payload.lowerBound, count: box.payload.count)
      guard bytes.count == box.payload.count else { return }
      add(bytes)
    }
  }
}

extension Demuxer {
  /// Returns the presentations of the streams that need one, by the index of the stream.
  ///
  /// - Parameters:
  ///   - movie: The index of the file; `nil` if it can't be read.
  ///   - file: The local file.
  static func presentations(
    of container: Container, _ movie: MovieContent?, in file: ByteSource?
  ) -> [Int: TrackPresentation] {
    guard let file, let movie else { return [:] }
    let tracks = TrackPresentation.all(in: file, movie)
    guard !tracks.isEmpty else { return [:] }
    var found: [Int: TrackPresentation] = [:]
    for stream in container.streams where !stream.isAttachedPicture {
      found[stream.index] = tracks[stream.identifier]
    }
    return found
  }
}

extension Demuxer.Container {
  /// Returns the container with its streams as they are presented.
  func presented(by presentations: [Int: TrackPresentation]) -> Self {
    var container = self
    container.streams = streams.map { presentations[$0.index]?.applied(to: $0) ?? $0 }
    return container
  }
}
