internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// One canvas of a live session with its renditions, each of which is encoded once, and the writers that share
/// them. Used only on the session's thread.
final class LiveBranch {
  /// Packets in order, and the writers that take them.
  private final class Lane {
    let interleaver: PacketInterleaver
    var writers: [(writer: OutputWriter, content: SegmentCutter.Content)] = []
    /// The format of the packets that were queued last; `nil` before the first.
    var format: EncodedFormat?

    init(_ interleaver: PacketInterleaver) { self.interleaver = interleaver }
  }

  /// One rendition's packets.
  private final class Rung {
    /// One, or another one for recordings, whose audio is another one.
    private(set) var lanes: [Lane]

    init(_ interleaver: PacketInterleaver) { lanes = [Lane(interleaver)] }

    /// Gives recordings a lane of their own, unless they have one. The video that waits for its audio is in both.
    func divide() throws(UprightError) {
      guard lanes.count == 1 else { return }
      let recorded = Lane(try lanes[0].interleaver.copy())
      recorded.writers = lanes[0].writers.filter(\.writer.factory.isRecording)
      lanes[0].writers.removeAll(where: \.writer.factory.isRecording)
      lanes.append(recorded)
    }

    /// The lane of a writer, which it is in or would be in.
    func lane(of writer: OutputWriter) -> Lane {
      writer.factory.isRecording ? lanes[lanes.count - 1] : lanes[0]
    }

    func add(_ packet: consuming Packet, _ format: EncodedFormat?) throws(UprightError) {
      for lane in lanes.dropFirst() {
        lane.interleaver.add(try packet.shared(), track: 0, format: format, isVideo: true)
      }
      lanes[0].interleaver.add(packet, track: 0, format: format, isVideo: true)
    }
  }

  let encoding: LiveEncoding
  private let pipeline: FramePipeline
  /// One for each rung of the ladder, or one. The first has the audio too.
  private let rungs: [Rung]
  /// The packets that a frame that is repeated has at its keyframes and between them; `nil` before such a keyframe.
  private var group: FrozenGroup?
  /// The time of the frame that is encoded.
  private var time = MediaTime.zero
  /// The number of frames whose packets were sent again.
  private var repeats = 0
  /// The last loss of the input, in media time; without an end while it lasts.
  private var loss: (start: MediaTime, end: MediaTime?)?

  /// The time that video packets wait for audio packets. `LiveAudio` inserts silence before that.
  private static let audioTimeout = MediaTime(12, .one)

  /// - Parameters:
  ///   - keyframes: Decides which frames are keyframes.
  ///   - preparation: Converts the frames, for all branches.
  ///   - rate: The frame rate for rate control, in frames per second.
  ///   - observe: Called for each new format.
  init(
    _ encoding: LiveEncoding, _ configuration: LiveConfiguration, stills: SessionStills,
    keyframes: KeyframeClock, preparation: FramePreparation, rate: Double,
    observe: @escaping (SessionUpdate) -> Void
  ) {
    self.encoding = encoding
    let options = configuration.options
    rungs = (0..<max(1, options.ladder.count)).map { rung in
      Rung(
        PacketInterleaver(
          awaited: [true, rung == 0], cutsAtKeys: true, timeout: Self.audioTimeout,
          isGapless: true))
    }
    let seconds = configuration.segmentSeconds
    var setup = FramePipeline.Setup(keyframes: keyframes)
    setup.observe = observe
    setup.preparation = preparation
    pipeline = FramePipeline(
      FramePipeline.Work(
        options: options, fit: options.fit(on: encoding.canvas), stills: stills,
        container: "a live stream",
        canFollow: encoding.follows, timeBase: LiveClock.timeBase,
        settings: { frame, _ in
          Self.settings(encoding, options, frame, rate: rate, seconds: seconds)
        }), setup)
    pipeline.rungs = options.ladder.enumerated().dropFirst().map { index, rung in
      let encoder = RungEncoder(size: rung.size, rate: options.rate(of: rung)) {
        [unowned self] (packet, format) throws(UprightError) in
        try put(packet, format, rung: index)
      }
      encoder.isActive = false
      return encoder
    }
  }

  private static func settings(
    _ encoding: LiveEncoding, _ options: TranscodeOptions, _ frame: borrowing VideoFrame,
    rate: Double, seconds: Double
  ) -> VideoEncoder.Settings {
    var settings = VideoEncoder.Settings(shared: encoding.codec, frame, LiveClock.timeBase)
    settings.frameRate = Rational(Int(clamping: rate * 1000), 1000)
    settings.rate = options.firstRate
    (settings.encoder, settings.speed) = (options.encoder, options.speed)
    // An IDR is requested at each segment; the encoder must not insert its own more often.
    settings.gop = options.gop ?? Int(clamping: min(rate * seconds * 4, 1e6)) + 1
    settings.options = options.encoderOptions
    return settings
  }

  /// The keyframes so far.
  var keyframes: KeyframeClock { pipeline.keyframes }

  /// The number of writers that take its packets.
  var writers: Int { rungs.reduce(0) { $0 + $1.lanes.reduce(0) { $0 + $1.writers.count } } }

  /// Returns whether a writer takes packets of this branch.
  func contains(_ writer: OutputWriter) -> Bool {
    rungs.contains { $0.lane(of: writer).writers.contains { $0.writer === writer } }
  }

  /// Whether a writer is, or isn't, of a recording.
  func contains(recordings: Bool) -> Bool {
    rungs.contains { rung in
      rung.lanes.contains { $0.writers.contains { $0.writer.factory.isRecording == recordings } }
    }
  }

  /// Returns the format of the packets that were queued last for writers of a rung like this one; `nil` before the first.
  func format(for writer: OutputWriter, rung: Int) -> EncodedFormat? {
    rungs[rung].lane(of: writer).format
  }

  /// Queues the packets of a stream for another writer. The next frame is a keyframe.
  func add(_ writer: OutputWriter, _ stream: LiveStream) {
    rungs[stream.rung].lane(of: writer).writers.append((writer, stream.content))
    if stream.rung > 0 { pipeline.rungs[stream.rung - 1].isActive = true }
    group = nil
    pipeline.requestKeyframe()
  }

  /// Queues no more packets for a writer. A rung without writers is not encoded any more.
  func remove(_ writer: OutputWriter) throws(UprightError) {
    for (index, rung) in rungs.enumerated()
    where rung.lane(of: writer).writers.contains(where: { $0.writer === writer }) {
      rung.lane(of: writer).writers.removeAll { $0.writer === writer }
      guard index > 0, rung.lanes.allSatisfy(\.writers.isEmpty) else { continue }
      let rung = pipeline.rungs[index - 1]
      rung.isActive = false
      try rung.finish()
      try flush()
    }
  }

  /// The input is lost: what follows `time` is repeated, or silence.
  func lose(after time: MediaTime) {
    let start = loss.flatMap { $0.end == nil ? max($0.start, time) : nil }
    loss = (start ?? time, nil)
  }

  /// The input is back, with a frame at `time`.
  func resume(at time: MediaTime) {
    if let loss, loss.end == nil { self.loss = (loss.start, time) }
  }

  private func isFrozen(at time: MediaTime) -> Bool {
    loss.map { loss in time > loss.start && loss.end.map { time < $0 } ?? true } ?? false
  }

  /// Changes layout, still pictures and rate control from the next frame on.
  func change(_ options: TranscodeOptions, _ stills: SessionStills) {
    endGroup()
    pipeline.change(options, fit: options.fit(on: encoding.canvas), stills)
    for (encoder, rung) in zip(pipeline.rungs, options.ladder.dropFirst()) {
      encoder.change(options.rate(of: rung))
    }
  }

  /// The number of frames that have gone out.
  var frames: Int { pipeline.tally.frames + repeats }

  /// How the last frame was laid out; `nil` before the first.
  var layout: LiveLayout? {
    pipeline.latestLayout.map { LiveLayout($0.placement, of: $0.source) }
  }

  /// How often the format has changed.
  var changes: Int { max(0, pipeline.tally.changeCount - 1) }

  /// The time spent on each frame, in seconds.
  private(set) var times = (orient: DurationHistogram(), encode: DurationHistogram())

  /// Calls `body` with the next frame as it is encoded.
  func peek(_ body: @escaping (borrowing VideoFrame) throws(UprightError) -> Void) {
    pipeline.peek = body
  }

  /// Encodes one frame at media time `time` and queues its packet for the outputs.
  ///
  /// - Parameter isRepeat: Whether the frame is the one before it. Then packets that were encoded may go out again.
  func encode(
    _ frame: consuming VideoFrame, _ direction: FrameDirection, _ time: MediaTime, isRepeat: Bool
  ) throws(UprightError) {
    if !isRepeat || group.map({ $0.direction != direction }) ?? false { endGroup() }
    if isRepeat, try sendAgain(frame, direction, time) { return try flush() }
    self.time = time
    let (orient, encode) = (pipeline.tally.orientSeconds, pipeline.tally.encodeSeconds)
    try pipeline.process(frame, direction, time) { (packet, format) throws(UprightError) in
      try put(packet, format, rung: 0)
    }
    group?.endFrame()
    times.orient.add(pipeline.tally.orientSeconds - orient)
    times.encode.add(pipeline.tally.encodeSeconds - encode)
    pipeline.forgetChanges()
    try flush()
  }

  /// Sends the packets of a repeated frame again. Returns `false` if it must be encoded.
  private func sendAgain(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ time: MediaTime
  ) throws(UprightError) -> Bool {
    var keyframes = pipeline.keyframes
    if keyframes.isDue(at: time, canvas: direction.canvas), group?.begin() != true {
      group = FrozenGroup(direction, rungs: rungs.count)
    }
    guard let group, group.isSentAgain else { return false }
    let isSent = try group.send(at: frame) { (packet, rung) throws(UprightError) in
      try rungs[rung].add(packet, nil)
    }
    guard isSent else {
      endGroup()
      return false
    }
    pipeline.keyframes = keyframes
    repeats += 1
    try pipeline.draw(frame, direction)
    return true
  }

  /// Encodes again what follows, from a keyframe on if packets have gone out that the encoder doesn't know.
  private func endGroup() {
    if group?.isSentAgain == true { pipeline.requestKeyframe() }
    group = nil
  }

  private func put(
    _ packet: consuming Packet, _ format: EncodedFormat?, rung: Int
  ) throws(UprightError) {
    try group?.record(packet, rung: rung, at: time)
    try rungs[rung].add(packet, format)
  }

  /// Queues one audio packet for the outputs.
  func addAudio(_ packet: borrowing Packet, for share: LiveAudio.Share) throws(UprightError) {
    if share != .all { try rungs[0].divide() }
    for (index, lane) in rungs[0].lanes.enumerated()
    where share == .all || (share == .recorded) == (index > 0) {
      lane.interleaver.add(try packet.shared(), track: 1, format: nil, isVideo: false)
    }
    try flush()
  }

  private func flush() throws(UprightError) {
    for rung in rungs {
      for lane in rung.lanes { try flush(lane) }
    }
  }

  private func flush(_ lane: Lane) throws(UprightError) {
    while let item = lane.interleaver.next() {
      let (track, format) = (item.track, item.format)
      let packet = item.takePacket()
      if let format { lane.format = format }
      let isFrozen = packet.time.map(isFrozen) ?? false
      for (writer, content) in lane.writers where track == 0 || content != .video {
        // The video's packets tell the audio's segments where they end.
        let isClock = track == 0 && content == .audio
        writer.queue.put(
          isClock ? try packet.withoutPayload() : try packet.shared(), track: track,
          format: format, isFrozen: isFrozen)
      }
    }
  }

  /// Flushes the encoders and the interleavers. No frame or packet may follow.
  func finish() throws(UprightError) {
    group = nil
    try pipeline.finish { (packet, format) throws(UprightError) in
      try put(packet, format, rung: 0)
    }
    for lane in rungs.flatMap(\.lanes) {
      lane.interleaver.end(track: 0)
      lane.interleaver.end(track: 1)
    }
    try flush()
  }
}

extension VideoEncoder.Settings {
  /// The settings of a live encode whose packets any output can take.
  init(shared codec: VideoCodec, _ frame: borrowing VideoFrame, _ timeBase: Rational) {
    self.init(
      codec: codec, size: frame.size, format: codec.encodingFormat(for: frame.format),
      colour: frame.colour, timeBase: timeBase)
    (isLive, isAmongOthers) = (true, true)
    (wantsGlobalHeader, repeatsHeaders) = (true, true)
    // Many sessions run in parallel; one thread for each has the lowest total cost.
    threads = codec == .h264 ? 1 : 0
  }
}
