internal import Orientation
internal import UprightContainers
internal import UprightEncoding
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// One encode of a live session, and the outputs that share it. Used only on the session's thread.
final class LiveBranch {
  let encoding: LiveEncoding
  private(set) var writers: [OutputWriter] = []
  /// The format of the packets that were queued last; `nil` before the first.
  private(set) var format: EncodedFormat?
  private let pipeline: FramePipeline
  private let interleaver: PacketInterleaver

  /// The time that video packets wait for audio packets. `LiveAudio` inserts silence long before that.
  private static let audioTimeout = MediaTime(2, .one)

  /// - Parameters:
  ///   - rate: The frame rate for rate control, in frames per second.
  ///   - observe: Called for each new format.
  init(
    _ encoding: LiveEncoding, _ configuration: LiveConfiguration, stills: SessionStills,
    rate: Double, observe: @escaping (SessionUpdate) -> Void
  ) {
    self.encoding = encoding
    interleaver = PacketInterleaver(
      awaited: [true, true], cutsAtKeys: true, timeout: Self.audioTimeout, isGapless: true)
    let seconds = configuration.segmentSeconds
    var setup = FramePipeline.Setup(keyframes: KeyframeClock(every: MediaTime(seconds: seconds)))
    setup.observe = observe
    pipeline = FramePipeline(
      FramePipeline.Work(
        options: configuration.options, stills: stills, container: "a live stream",
        canFollow: encoding.follows, timeBase: LiveClock.timeBase,
        settings: { frame, _ in
          Self.settings(encoding, configuration.options, frame, rate: rate, seconds: seconds)
        }), setup)
  }

  private static func settings(
    _ encoding: LiveEncoding, _ options: TranscodeOptions, _ frame: borrowing VideoFrame,
    rate: Double,
    seconds: Double
  ) -> VideoEncoder.Settings {
    VideoEncoder.Settings(
      codec: encoding.codec, size: frame.size,
      format: encoding.codec.encodingFormat(for: frame.format),
      colour: frame.colour, timeBase: LiveClock.timeBase,
      frameRate: Rational(Int(clamping: rate * 1000), 1000), rate: options.rate,
      speed: options.speed,
      // An IDR is requested at each segment; the encoder must not insert its own more often.
      gop: options.gop ?? Int(clamping: min(rate * seconds * 4, 1e6)) + 1, isLive: true,
      // Both, so that every output can share the packets.
      wantsGlobalHeader: true, repeatsHeaders: true,
      // Many sessions run in parallel; one thread for each has the lowest total cost.
      threads: encoding.codec == .h264 ? 1 : 0, options: options.encoderOptions)
  }

  /// Queues packets for another writer. The next frame is a keyframe.
  func add(_ writer: OutputWriter) {
    writers.append(writer)
    pipeline.requestKeyframe()
  }

  /// Queues no more packets for a writer.
  func remove(_ writer: OutputWriter) { writers.removeAll { $0 === writer } }

  /// Changes layout, still pictures and rate control from the next frame on.
  func change(_ options: TranscodeOptions, _ stills: SessionStills) {
    pipeline.change(options, stills)
  }

  var tally: SessionTally { pipeline.tally }

  /// How often the format has changed.
  var changes: Int { max(0, tally.changeCount - 1) }

  /// The time spent on each frame, in seconds.
  private(set) var times = (orient: DurationHistogram(), encode: DurationHistogram())

  /// Encodes one frame at media time `time` and queues its packet for the outputs.
  func encode(
    _ frame: consuming VideoFrame, _ direction: FrameDirection, _ time: MediaTime
  ) throws(UprightError) {
    let (orient, encode) = (tally.orientSeconds, tally.encodeSeconds)
    try pipeline.take(frame, direction, time) { (packet, format) throws(UprightError) in
      interleaver.add(packet, track: 0, format: format, isVideo: true)
    }
    times.orient.add(tally.orientSeconds - orient)
    times.encode.add(tally.encodeSeconds - encode)
    pipeline.forgetChanges()
    try flush()
  }

  /// Queues one audio packet for the outputs.
  func addAudio(_ packet: consuming Packet) throws(UprightError) {
    interleaver.add(packet, track: 1, format: nil, isVideo: false)
    try flush()
  }

  private func flush() throws(UprightError) {
    while let item = interleaver.next() {
      let (track, format) = (item.track, item.format)
      let packet = item.takePacket()
      if let format { self.format = format }
      for writer in writers {
        writer.queue.put(try packet.shared(), track: track, format: format)
      }
    }
  }

  /// Flushes the encoder and the interleaver. No frame or packet may follow.
  func finish() throws(UprightError) {
    try pipeline.finish { (packet, format) throws(UprightError) in
      interleaver.add(packet, track: 0, format: format, isVideo: true)
    }
    interleaver.end(track: 0)
    interleaver.end(track: 1)
    try flush()
  }
}
