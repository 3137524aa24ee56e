internal import UprightOrientation
internal import UprightMediaIO
internal import UprightSignals

/// One recording as a stream of packets, starting at its first keyframe.
final class JanusTrack {
  let frames: JanusFrames
  let stream: StreamInfo
  /// The offset, in ticks, that is added to the recording's timestamps, which start at 0.
  private let offset: Int64
  /// The number of frames before the first keyframe. They can't be decoded.
  private let leadingFrames: Int

  /// The number of frames from which the frame rate is estimated.
  private static let sample = 16

  /// - Parameter start: The start of the recording on the timeline that it shares with another one.
  /// - Throws: `badData` if nothing in it can be decoded.
  init(_ frames: JanusFrames, index: Int, startingAt start: MediaTime) throws(UprightError) {
    self.frames = frames
    let codec = frames.codec
    let timeBase = Rational(1, codec.clockRate)
    offset = start.plausibleTicks(of: timeBase)
    guard codec.isVideo else {
      leadingFrames = 0
      guard let first = try frames.peek() else {
        throw UprightError(
          .badData, "there is no audio in the recording", at: frames.path,
          remedy: "check whether it was truncated")
      }
      var audio = StreamInfo(
        index: index, kind: .audio, parameters: try codec.audioParameters(), timeBase: timeBase)
      (audio.duration, audio.startTime) = (frames.duration, first.ticks + offset)
      stream = audio
      return
    }
    let (parameters, skipped) = try Self.findKeyframe(frames)
    leadingFrames = skipped
    let ahead = try frames.lookAhead(Self.sample)
    let interval = Self.interval(ahead)
    let first = ahead.map(\.ticks).min() ?? 0
    let length = frames.duration.map {
      max(.zero, $0 - MediaTime(first, timeBase)) + MediaTime(Int64(interval ?? 0), timeBase)
    }
    var video = StreamInfo(
      index: index, kind: .video, parameters: parameters, timeBase: timeBase,
      frameRate: interval.map { Rational(codec.clockRate, $0) })
    (video.duration, video.startTime) = (length, first + offset)
    video.carriesCVO = frames.header.orientation.isNegotiated
    video.decoderName = codec.decoderName
    stream = video
  }

  /// Returns the time of the next packet, or `nil` at the end.
  func nextTime() throws(UprightError) -> MediaTime? {
    try frames.peek().map { MediaTime($0.ticks + offset, stream.timeBase) }
  }

  /// Returns the next packet, or `nil` at the end.
  func read() throws(UprightError) -> Packet? {
    guard let unit = try frames.next() else { return nil }
    let duration =
      switch frames.codec {
      case .opus: OpusPacket.duration(unit.bytes) ?? 0
      // One byte per sample.
      case .pcmu, .pcma: unit.bytes.count
      case .h264, .vp8, .vp9: 0
      }
    var packet = try Packet(
      unit.bytes, stream: stream, pts: unit.ticks + offset, isKey: unit.isKey,
      duration: Int64(duration))
    packet.cvo = unit.cvo
    return packet
  }

  /// Descriptions of the losses so far, for the user.
  var losses: [String] {
    let leading =
      leadingFrames == 1
      ? "1 frame precedes the first keyframe" : "\(leadingFrames) frames precede the first keyframe"
    return (leadingFrames > 0 ? [leading] : []) + frames.losses
  }

  /// Skips everything before the first keyframe that can be decoded.
  private static func findKeyframe(
    _ frames: JanusFrames
  ) throws(UprightError) -> (CodecParameters, skipped: Int) {
    var skipped = 0
    while let unit = try frames.peek() {
      if unit.isKey,
        let parameters = try frames.codec.parameters(
          ofKeyframe: unit.bytes, sets: frames.header.parameterSets)
      {
        return (parameters, skipped)
      }
      skipped += 1
      _ = try frames.next()
    }
    throw UprightError(
      .badData, "no keyframe of the recording can be decoded", at: frames.path,
      remedy: "start the recording at a keyframe")
  }

  /// Returns the usual distance between frames in ticks: the median over the first frames.
  private static func interval(_ units: [AccessUnit]) -> Int? {
    let times = units.map(\.ticks).sorted()
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }.filter { $0 > 0 }.sorted()
    guard !steps.isEmpty else { return nil }
    return Int(clamping: min(steps[steps.count / 2], 1 << 24))
  }
}
