internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// The signals of Apple's timed orientation track. It is read completely before the first frame, because its
/// samples may be stored after the frames that they belong to.
struct TimedSignals {
  private var steps = Steps<DisplayTurn?>()
  private(set) var warnings: [String] = []

  private static let maxSamples = 1_000_000

  /// Returns `nil` if no such track describes `video`, or the input is not seekable.
  init?(_ demuxer: Demuxer, _ video: StreamInfo) throws(UprightError) {
    let candidates = demuxer.container.streams.filter { $0.codecTag == "mebx" }
    guard !candidates.isEmpty, let bytes = demuxer.bytes(), let movie = MovieContent(in: bytes),
      let track = TimedOrientationTrack.tracks(inMovie: movie.bytes).first(where: {
        $0.describes.isEmpty || $0.describes.contains(video.identifier)
      }), let stream = candidates.first(where: { $0.identifier == track.identifier })
    else { return nil }
    let ahead = try demuxer.opened(for: stream)
    var samples = 0
    while let packet = Self.next(ahead), samples < Self.maxSamples {
      guard packet.streamIndex == stream.index, let at = packet.pts ?? packet.dts else { continue }
      samples += 1
      let sample = unsafe packet.withBytes { unsafe Array($0) }
      steps.set(
        turn(track.value(of: sample), seconds: packet.time?.seconds ?? 0),
        from: at.firstTick(of: video.timeBase, from: stream.timeBase))
    }
  }

  /// Returns `nil` at the end and on a read error. The video's own reader will report the error.
  private static func next(_ demuxer: Demuxer) -> Packet? {
    do throws(UprightError) { return try demuxer.read() } catch { return nil }
  }

  private mutating func turn(
    _ value: TimedOrientationTrack.Value, seconds: Double
  ) -> DisplayTurn? {
    switch value {
    case .orientation(let orientation): return DisplayTurn(orientation)
    case .absent: return nil
    case .senseless(let number):
      if warnings.isEmpty {
        warnings.append(
          "at \(seconds.rounded(toPlaces: 3)): the timed orientation \(number) is not in 1...8; such values are ignored"
        )
      }
      return nil
    }
  }

  /// Returns the value for the frame at `pts`.
  mutating func turn(at pts: Int64?) -> DisplayTurn? { steps.value(at: pts) ?? nil }
}
