internal import Orientation
internal import OrientationSignals
internal import UprightMediaIO
internal import UprightPipeline

/// What Apple's timed orientation track says, read as a whole before the first picture: its samples
/// may lie behind the pictures they belong to.
struct TimedSignals {
  private var steps = Steps<DisplayTurn?>()
  private(set) var warnings: [String] = []

  /// A movie's index is read into memory up to this size.
  private static let largestIndex = 64 << 20
  private static let maxSamples = 1_000_000

  /// Nil where no such track describes `video`, or the input cannot be gone about in.
  init?(_ demuxer: Demuxer, _ video: StreamInfo) throws(UprightError) {
    let candidates = demuxer.container.streams.filter { $0.codecTag == "mebx" }
    guard !candidates.isEmpty, let bytes = demuxer.bytes(), let movie = Self.movie(bytes),
      let track = TimedOrientationTrack.tracks(inMovie: movie).first(where: {
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
        turn(track.value(of: sample), seconds: packet.seconds ?? 0),
        from: at.firstTick(of: video.timeBase, from: stream.timeBase))
    }
  }

  /// Nil at the end, and where reading fails: the pictures' own reader will say so.
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
          "at \(seconds.rounded(toPlaces: 3)): the timed orientation \(number) is none of 1...8; such values are ignored"
        )
      }
      return nil
    }
  }

  /// The content of the file's first `moov`.
  private static func movie(_ source: ByteSource) -> [UInt8]? {
    var position = 0
    // Fragmented files have two boxes a fragment; the index stands at one end.
    for _ in 0..<10_000 {
      guard let box = MP4BoxHeader(source.read(at: position, count: 16)) else { return nil }
      if box.isMovie {
        guard let size = box.size, size <= largestIndex else { return nil }
        return source.read(at: position + box.headerSize, count: size - box.headerSize)
      }
      guard let size = box.size else { return nil }
      let (next, overflow) = position.addingReportingOverflow(size)
      guard !overflow else { return nil }
      position = next
    }
    return nil
  }

  /// What is said of the picture at `pts`.
  mutating func turn(at pts: Int64?) -> DisplayTurn? { steps.value(at: pts) ?? nil }
}
