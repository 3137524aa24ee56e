internal import UprightOrientation
internal import UprightMediaIO
internal import UprightSignals

/// A Janus recording of video, and optionally one of audio, as one input.
///
/// The timestamps of each recording start at its first packet. The header contains the time when that packet
/// was written (`u`, in microseconds of one clock). The difference of these times is the offset between the
/// recordings. If a header has no such time, both start together. The senders' clocks are not compared after
/// that, because a recording has no sender reports.
final class JanusSource: PacketSource {
  let url: String
  let container: Demuxer.Container
  private var tracks: [JanusTrack]
  private let all: [JanusTrack]
  private let interrupt: Interrupt

  /// The largest distance between the starts of two recordings of one call.
  private static let longestWait = MediaTime(12 * 3600, .one)

  /// - Throws: `noInput`; `badData`; `usage` if the two recordings can't be combined.
  init(video: String, audio: String?, interrupt: Interrupt) throws(UprightError) {
    url = video
    self.interrupt = interrupt
    let first = try JanusFrames(video, interrupt: interrupt)
    var all: [JanusTrack] = []
    if let audio {
      let second = try Self.openAudio(audio, beside: first, interrupt: interrupt)
      let (start, other) = try Self.starts(first, second)
      all.append(try JanusTrack(first, index: 0, startingAt: start))
      all.append(try JanusTrack(second, index: 1, startingAt: other))
    } else {
      all.append(try JanusTrack(first, index: 0, startingAt: .zero))
    }
    self.all = all
    tracks = all
    container = Demuxer.Container(
      format: "mjr", streams: all.map(\.stream), duration: first.duration,
      metadata: Self.metadata(first.header), isSeekable: first.isSeekable)
  }

  private static func openAudio(
    _ path: String, beside video: JanusFrames, interrupt: Interrupt
  ) throws(UprightError) -> JanusFrames {
    guard path != "-" else {
      throw UprightError(
        .usage, "the audio can't be read from standard input", at: "--audio -",
        remedy: "give it as a file")
    }
    guard video.codec.isVideo else {
      throw UprightError(
        .badData, "expected a recording of video, found one of audio", at: video.path,
        remedy: "give the video recording first, and the audio recording with --audio")
    }
    let audio = try JanusFrames(path, interrupt: interrupt)
    guard !audio.codec.isVideo else {
      throw UprightError(
        .badData, "expected a recording of audio, found one of video", at: "--audio \(path)",
        remedy: "give the audio recording")
    }
    return audio
  }

  /// Returns the start of each recording on the common timeline. The earlier one starts at 0.
  private static func starts(
    _ first: JanusFrames, _ second: JanusFrames
  ) throws(UprightError) -> (MediaTime, MediaTime) {
    let times =
      [
        (first.header.written, second.header.written),
        (first.header.created, second.header.created),
      ].lazy.compactMap { pair in
        if let one = pair.0, let other = pair.1 { (one, other) } else { nil }
      }.first
    guard let (one, other) = times else { return (.zero, .zero) }
    let apart = MediaTime(Int64(clamping: other - one), Rational(1, 1_000_000))
    guard max(apart, -apart) <= longestWait else {
      throw UprightError(
        .badData, "the audio starts \(apart.rescaled(to: .one).ticks) s after the video",
        at: "--audio \(second.path)", remedy: "give the audio of the same call")
    }
    return (max(.zero, -apart), max(.zero, apart))
  }

  private static func metadata(_ header: JanusHeader) -> [String: String] {
    guard let microseconds = header.written ?? header.created, microseconds > 0,
      microseconds < 1e17
    else { return [:] }
    return ["creation_time": CalendarTime(seconds: microseconds / 1_000_000).text]
  }

  func bestStream(_ kind: StreamKind) -> StreamInfo? {
    container.streams.first { $0.kind == kind }
  }

  func select(_ indices: Set<Int>) { tracks = all.filter { indices.contains($0.stream.index) } }

  /// Returns the next packet of the recording that is behind.
  func read() throws(UprightError) -> Packet? {
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
    var earliest: (track: JanusTrack, time: MediaTime)?
    for track in tracks {
      guard let time = try track.nextTime() else { continue }
      if earliest.map({ time < $0.time }) ?? true { earliest = (track, time) }
    }
    return try earliest?.track.read()
  }

  var losses: [String] { tracks.flatMap(\.losses) }
}
