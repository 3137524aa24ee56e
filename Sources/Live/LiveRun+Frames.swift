internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// What is done with a frame: it gets its time, is laid out for each encode, and encoded.
extension LiveRun {
  /// Places a decoded frame, and shows it unless it is late or dropped.
  ///
  /// - Parameter mark: The events that arrived up to it take effect at the frame.
  func process(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?, after mark: ArrivalMark
  ) throws(UprightError) {
    let wall = wall
    guard let time = clock.frameTime(frame.pts, wall: wall) else {
      return control.countDrop("late")
    }
    arrivedAtFrame = control.packets.counted.arrived
    switch backlog.answer(behind: control.packets.newest.lead(over: mark), wall: wall) {
    case .show: shown = mark
    case .drop: return control.countDrop("queue")
    case .skip:
      if control.packets.skipToNewestKeyframe() { clock.skip(wall: wall) }
      return control.countDrop("queue")
    }
    if let sourceGuidance {
      if time - clock.start < Self.rampTime { grow(sourceGuidance, with: frame) }
    } else {
      try start(with: frame)
    }
    if lostAt != nil {
      for branch in branches { branch.resume(at: MediaTime(time, LiveClock.timeBase)) }
      // Repeated frames end a little before it.
      while let held, time - lastEncoded > 2 * clock.step, time - lastEncoded < LiveClock.rate {
        try show(held, at: lastEncoded + clock.step)
      }
    }
    if lostAt != nil || control.state == .waiting { control.enter(.live) }
    lostAt = nil
    if clock.isByArrival {
      control.explain("the publisher's clock isn't real time: times are those of arrival")
    }
    try fill(before: time)
    frame.pts = time
    frame.duration = clock.step
    held = (SharedFrame(try frame.shared()), signal)
    control.policy { $0.resume(upTo: mark) }
    try show(frame, signal, isRepeat: false)
  }

  /// The input is lost: recordings that don't see it again end at `time`.
  func freeze(after time: Int64) {
    for branch in branches { branch.lose(after: MediaTime(time, LiveClock.timeBase)) }
  }

  /// Repeats the last frame in a gap of the input. Without frames there is no keyframe, and a segment would
  /// be longer than the playlist's target duration, or a part than the longest part.
  func fill(before time: Int64) throws(UprightError) {
    guard outputs.entries.contains(where: \.target.output.hasSegments), let held else { return }
    let usual = MediaTime(clock.step, LiveClock.timeBase)
    let (after, by) =
      configuration.lowLatency?.repeats(usual: usual)
      ?? (LivePlaylist.longestHole, LivePlaylist.longestHole)
    // Rounded down: no part may be too long.
    let hole = max(1, after.plausibleTicks(of: LiveClock.timeBase) - 1)
    let step = min(hole, by.plausibleTicks(of: LiveClock.timeBase))
    // At most what the playlist lists.
    for _ in 0..<Int(clamping: 12 * LiveClock.rate / step) {
      guard time - lastEncoded > hole else { return }
      try show(held, at: lastEncoded + step)
    }
  }

  /// Creates the policy's director and the encodes of all outputs.
  private func start(with frame: borrowing VideoFrame) throws(UprightError) {
    let options = configuration.options
    var policy = configuration.policy
    // If no event gave the device orientation, the shape of upright frames determines it.
    if options.frames == .upright, !control.policy({ $0.hasEarlyEvents }) {
      policy.device.orientation = DeviceOrientation(frameOf: frame.shape.shown, lying: .up)
    }
    let source = try StreamGuidance.ofSource(frame, captureSize: options.captureSize)
    sourceGuidance = source
    let first = outputs.entries.first { !$0.isStopped }?.target.streams[0].encoding
    let guidance = (first?.size ?? .source).guidance(of: source)
    var director = try FrameDirector(
      policy: policy, canvas: DirectedCanvas(first?.canvas ?? .follow, guidance: guidance),
      frames: options.frames, reference: options.reference, signalsAreEvents: true,
      gravity: options.gravity, focus: options.focusRule)
    (director.levels, director.takesFocus) = (options.levels, options.fills)
    control.policy { $0.start(with: director) }
    for entry in outputs.entries where !entry.isStopped { attach(entry, source) { _, _ in } }
  }

  /// How long a larger frame enlarges the stream, from the first one on: browsers begin with small frames.
  private static let rampTime = 2 * LiveClock.rate

  /// Enlarges the encodes that have the source's size, where the container can follow.
  private func grow(_ present: StreamGuidance, with frame: borrowing VideoFrame) {
    let size = frame.shape.streamSize.laidOut(wide: true)
    let now = present.encodeSize.laidOut(wide: true)
    // A size that is larger than the capture size stays out.
    guard size != now, size.width >= now.width, size.height >= now.height,
      let larger = try? StreamGuidance.ofSource(
        frame, captureSize: configuration.options.captureSize)
    else { return }
    sourceGuidance = larger
    for (index, branch) in branches.enumerated()
    where branch.encoding.follows && branch.encoding.size.isOfSource {
      control.policy { $0.resize(canvas: index, to: branch.encoding.size.guidance(of: larger)) }
    }
  }

  /// Queues packets for the writers of an output, from the next keyframe on.
  ///
  /// - Parameter prepare: Called for each writer before, with the current format of its packets.
  func attach(
    _ entry: LiveOutputList.Entry, _ source: StreamGuidance,
    prepare: (OutputWriter, EncodedFormat?) -> Void
  ) {
    for (stream, writer) in zip(entry.target.streams, entry.writers) {
      let branch = branch(for: stream.encoding, source)
      prepare(writer, branch.format(for: writer, rung: stream.rung))
      branch.add(writer, stream)
    }
  }

  /// Returns the encode with these settings, a new one if there is none.
  func branch(for encoding: LiveEncoding, _ source: StreamGuidance) -> LiveBranch {
    if let branch = branches.first(where: { $0.encoding == encoding }) { return branch }
    let guidance = encoding.size.guidance(of: source)
    control.policy { $0.add(DirectedCanvas(encoding.canvas, guidance: guidance)) }
    var keyframes = KeyframeClock(every: MediaTime(seconds: configuration.segmentSeconds))
    // The segments of two canvases that never change their format have the same cuts, whichever began first.
    if let isLandscape = encoding.canvas.isFixedLandscape,
      let other = branches.first(where: { $0.encoding.canvas.isFixedLandscape != nil })
    {
      keyframes = other.keyframes.continued(on: guidance.encodeSize.laidOut(wide: isLandscape))
    }
    let branch = LiveBranch(
      encoding, configuration, stills: stills, keyframes: keyframes, preparation: preparation,
      rate: rate
    ) { [weak self] update in
      guard let self, branches.first?.encoding == encoding else { return }
      if case .format(let change) = update { control.notify(.format(change)) }
    }
    branches.append(branch)
    return branch
  }

  /// Shows a frame again.
  func show(
    _ held: (shared: SharedFrame, signal: OrientationSignal?), at time: Int64
  ) throws(UprightError) {
    var frame = try held.shared.frame.shared()
    frame.pts = time
    frame.duration = clock.step
    try show(frame, held.signal, isRepeat: true)
  }

  /// Lays out and encodes a frame, and queues its packets. The frame's timestamp is in media time.
  private func show(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?, isRepeat: Bool
  ) throws(UprightError) {
    guard let time = frame.pts else { throw UprightError(.fault, "a frame without a timestamp") }
    let moment = MediaTime(time, LiveClock.timeBase)
    let seconds = moment.seconds
    let size = frame.shape.shown
    let applied = applyChanges(at: seconds)
    var directions: [FrameDirection] = []
    var arrivals: [ContinuousClock.Instant] = []
    try control.policy { (policy: inout LivePolicy) throws(UprightError) -> Void in
      try policy.direct(at: seconds, size: size, signal: signal, into: &directions)
      policy.logTurns(upTo: seconds, as: moment, in: turns)
      arrivals = policy.takeArrivals()
    }
    // Silence for missing audio is inserted before the frame that it belongs with, so that no frame waits for
    // the encoder's delay.
    let isExpected = isAudioExpected
    if isExpected, audio.stopsWaiting(at: time) { try waitLongerForAudio() }
    try audio.reach(isExpected ? time : time + audio.delay, isExpected: isExpected) {
      (packet, share) throws(UprightError) in try send(packet, for: share)
    }
    if control.wantsPicture {
      branches.first?.peek { [control, pictureScaler] (frame) throws(UprightError) in
        control.give(
          try RGBPicture(frame, longestSide: LiveControl.pictureSide, scaler: pictureScaler))
      }
    }
    let isSlate = lostAt.map { wall - $0 >= Self.slateAfter } ?? false
    for (branch, direction) in zip(branches, directions.dropFirst()) {
      var direction = direction
      if isSlate, stills.slate != nil { direction.isCaptureEnabled = false }
      try branch.encode(try frame.shared(), direction, moment, isRepeat: isRepeat)
    }
    lastEncoded = time
    for answer in applied { answer() }
    control.recordFrame(
      directions.first, at: seconds, layouts: branches.lazy.compactMap(\.layout),
      arrivals: arrivals)
  }

  func send(_ packet: borrowing Packet, for share: LiveAudio.Share) throws(UprightError) {
    for branch in branches { try branch.addAudio(packet, for: share) }
  }

  /// Recordings wait on for the first audio while other outputs begin with silence.
  private func waitLongerForAudio() throws(UprightError) {
    guard branches.contains(where: { $0.contains(recordings: true) }) else { return }
    try audio.waitLonger(forAll: !branches.contains { $0.contains(recordings: false) })
  }
}

extension StreamGuidance {
  /// Returns guidance with the source's upright size, rounded down to even.
  static func ofSource(
    _ frame: borrowing VideoFrame, captureSize: PixelSize?
  ) throws(UprightError) -> StreamGuidance {
    let guidance = StreamGuidance(encodeSize: frame.shape.streamSize, captureSize: captureSize)
    do throws(PolicyError) { try guidance.check() } catch {
      throw UprightError(error, code: .usage)
    }
    return guidance
  }
}

extension FrameCanvas {
  /// Whether a canvas whose shape is known in advance is landscape; `nil` for any other.
  fileprivate var isFixedLandscape: Bool? {
    if case .fixed(let isLandscape) = self { isLandscape } else { nil }
  }
}
