internal import UprightMediaIO
internal import UprightOrientation

/// The tracks of one live stream that are shown. Either may begin at any time: a publisher may send audio before its
/// video, or begin its audio after seconds. Used on the reading thread.
final class LiveTracks {
  /// The index of the video; `nil` before it begins.
  private(set) var video: Int?
  private(set) var audio: Int?
  private let source: any PacketSource
  private let pixels: Int
  private let format: AudioFormat
  private let packets: ArrivedPackets
  /// The number of the stream's opening.
  private let run: Int
  /// The audio streams that can't be decoded.
  private var refused: Set<Int> = []
  /// Whether the session knows that there will be audio.
  private var isAudioAnnounced = false
  /// When the last packet of the audio arrived.
  private var lastAudio = ContinuousClock.now

  /// Another audio stream takes over from one that has been silent for this time.
  private static let silence = Duration.seconds(1)

  /// Begins the tracks that the input has shown so far.
  ///
  /// - Parameters:
  ///   - pixels: The largest number of pixels in a frame.
  ///   - format: The format of the decoded audio.
  /// - Throws: `badData` if the video can't be decoded.
  init(
    _ source: any PacketSource, pixels: Int, format: AudioFormat, _ packets: ArrivedPackets
  ) throws(UprightError) {
    self.source = source
    self.pixels = pixels
    self.format = format
    self.packets = packets
    run = packets.open()
    let video = source.bestStream(.video)
    if video == nil { try LiveCodecs.checkUnread(source.container.streams, at: source.url) }
    if let video { try begin(video) }
    if let stream = source.bestStream(.audio) { beginAudio(stream) }
    // Other audio may be needed later.
    let all = source.container.streams.filter { $0.kind == .audio }.map(\.index)
    source.select(Set(all + [self.video].compactMap(\.self)))
    announceAudio()
  }

  /// Begins the track of a packet if it is the first one.
  ///
  /// - Throws: `badData` if the video can't be decoded, `inputOutput` if it continues in another stream: reopening the
  ///   input detects its present streams.
  func begin(with packet: borrowing Packet) throws(UprightError) {
    let index = packet.streamIndex
    if index == audio { lastAudio = .now }
    defer { announceAudio() }
    if index == video || index == audio { return }
    if refused.contains(index) { return packets.count { $0.refused += 1 } }
    guard let stream = source.stream(index), !stream.isAttachedPicture else { return }
    switch stream.kind {
    case .video:
      if video == nil { return try begin(stream) }
      if source.container.streams.contains(where: { $0.index == index }) { return }
      throw UprightError(
        .inputOutput, "the video continues in another codec or stream", at: source.url)
    case .audio:
      // A publisher's source gives one at a time.
      guard audio == nil || source is FLVSource || .now - lastAudio > Self.silence,
        video.map({ source.belongs(index, with: $0) }) ?? true
      else { return }
      beginAudio(stream)
    default: return
    }
  }

  /// Announces audio that the input lists and hasn't sent yet, so that it is waited for.
  private func announceAudio() {
    guard video != nil, audio == nil, !isAudioAnnounced,
      source.bestStream(.audio) != nil
        || source.container.streams.contains(where: { $0.kind == .audio })
        || (source as? FLVSource)?.declaresAudio == true
    else { return }
    isAudioAnnounced = true
    _ = packets.put(.audioAnnounced)
  }

  private func begin(_ stream: StreamInfo) throws(UprightError) {
    try LiveCodecs.check(stream, at: source.url)
    let reader = try LiveVideoReader(source, stream, pixels: pixels)
    let lookAhead = (source as? Demuxer)?.lookAhead ?? .zero
    _ = packets.put(.video(reader, run: run, lookAhead: lookAhead))
    video = stream.index
    // Audio that began before it belongs to it.
    if let audio, let stream = source.stream(audio) { beginAudio(stream) }
  }

  private func beginAudio(_ stream: StreamInfo) {
    do throws(UprightError) {
      try LiveCodecs.check(stream, at: source.url)
      if video != nil { _ = packets.put(.audio(try LiveAudioReader(stream, as: format))) }
      (audio, lastAudio) = (stream.index, .now)
    } catch {
      // Video without audio is better than nothing.
      refused.insert(stream.index)
    }
  }
}
