internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Runs a live session on its own thread: places frames with the live clock, lays them out according to the
/// policy, encodes them once for each set of encode settings, and queues the packets for the outputs. Fills
/// gaps in the input.
final class LiveRun {
  var configuration: LiveConfiguration
  let control: LiveControl
  private var queue: BoundedQueue<LiveItem> { control.items }
  private let reader: LiveReader
  private let decoder: LiveDecoder
  var stills: SessionStills
  private let started = ContinuousClock.now

  var clock = LiveClock()
  let audio: LiveAudio
  /// The encodes. The first one gives the counts of frames and the changes of format.
  var branches: [LiveBranch] = []
  /// What branches that were closed have counted.
  var closed = (
    frames: 0, changes: 0, orient: DurationHistogram(), encode: DurationHistogram()
  )
  var outputs: LiveOutputList
  /// The turns that playlists list.
  let turns: TurnLog
  let preparation: FramePreparation
  /// Makes the small pictures that a program asks for.
  let pictureScaler = Scaler()
  /// The changes that take effect at the next frame.
  var changes:
    [(change: LiveChange, stills: SessionStills, reply: LiveCommand.Reply<AppliedChange>)] = []
  /// The sizes by the first frame; `nil` before it.
  var sourceGuidance: StreamGuidance?

  /// Whether the first frame has arrived.
  var isStarted: Bool { sourceGuidance != nil }

  /// `LiveConfiguration.inputTimeout`, in ticks.
  private let inputTimeout: Int64
  var rate = 30.0
  /// The audio that has arrived before the first frame of its publisher.
  private var earlyAudio: [EarlyAudio] = []
  /// Whether the input has audio, and when audio arrived last, in ticks.
  private var hasAudio = false
  private var lastAudio: Int64?
  /// The frame that is repeated while no frames arrive.
  var held: (shared: SharedFrame, signal: OrientationSignal?)?
  /// The frame of the input that was shown last.
  var shown = ArrivalMark()
  /// The time when the input was lost, in ticks; `nil` while it is present.
  var lostAt: Int64?
  private var lossReason = "no input"
  /// The number of video packets that had arrived at the last frame. More than a decoder holds back, without a frame,
  /// can't be decoded.
  var arrivedAtFrame = 0
  private static let undecodedPackets = 20
  var backlog: LiveBacklog
  private var lossDetector = InputLossDetector()
  var lastEncoded: Int64 = 0
  /// How the session ends, once it must.
  private var ending: LiveEnding?

  /// How often counters are published and limits of time are checked, with a present input and with a lost one, of
  /// which a frame is repeated.
  private static let intervals = (
    present: Duration.milliseconds(50), lost: Duration.milliseconds(10)
  )
  /// The slate is shown after this time without input, in ticks.
  static let slateAfter = 2 * LiveClock.rate

  init(
    _ configuration: LiveConfiguration, _ targets: [LiveTarget], _ control: LiveControl
  ) throws(UprightError) {
    self.configuration = configuration
    self.control = control
    inputTimeout = LiveClock.timeBase.ticks(in: configuration.inputTimeout)
    backlog = LiveBacklog(seconds: configuration.limits.lag)
    stills = try SessionStills(configuration.options)
    preparation = FramePreparation(background: configuration.options.background, isShared: true)
    audio = try LiveAudio()
    let media = OutputMedia(audio: try audio.track(), earliest: audio.earliest)
    turns = media.turns
    outputs = LiveOutputList(limit: configuration.limits.outputs) { target in
      target.writers(
        configuration, media, comesBack: { control.comesBack },
        observe: { control.notify(.recording($0)) })
    }
    let ids = LiveOutputList.ids(configuration.outputIDs, count: targets.count)
    for (target, id) in zip(targets, ids) { outputs.add(target, configuredAs: id) }
    reader = LiveReader(
      configuration.input, repeats: configuration.repeatsFile, proxy: configuration.httpProxy,
      pixels: configuration.limits.pixels,
      audioFormat: audio.format, interrupt: control.interrupt, packets: control.packets)
    decoder = LiveDecoder(control.packets, queue: control.items)
  }

  /// Runs the session to its end. Returns how it ended.
  func run() -> LiveEnding {
    let (reader, decoder) = (reader, decoder)
    let reading = WorkThread(name: "upright-live-in") { reader.run() }
    let decoding = WorkThread(name: "upright-live-dec") { decoder.decode() }
    outputs.writers.forEach { $0.start() }
    do throws(UprightError) {
      while ending == nil && !control.interrupt.isRaised { try step() }
      try finish()
    } catch {
      ending = .failed(error)
    }
    control.stop()
    configuration.input.close()
    queue.close()
    control.packets.refuse()
    control.endCommands()
    for waiting in changes { waiting.reply(.failure(WaitingCommands.ended)) }
    changes = []
    close()
    _ = reading.join()
    _ = decoding.join()
    publish()
    return ending ?? .ended("stopped")
  }

  // MARK: - The loop

  var wall: Int64 {
    let elapsed = started.duration(to: .now).components
    return elapsed.seconds * LiveClock.rate
      + elapsed.attoseconds / (1_000_000_000_000_000_000 / LiveClock.rate)
  }

  private func step() throws(UprightError) {
    for command in control.takeCommands() { perform(command) }
    let interval = lostAt != nil && held != nil ? Self.intervals.lost : Self.intervals.present
    if let item = queue.take(by: .now + interval) {
      try process(item)
    } else if queue.hasEnded {
      ending = ending ?? .ended("the input ended")
    }
    try checkInputAndOutputs()
    publish()
  }

  private func process(_ item: consuming LiveItem) throws(UprightError) {
    switch consume item {
    case .opened(let frameRate, let lookAhead):
      hasAudio = false
      earlyAudio = []
      let declared = frameRate.flatMap { (0.1...240).contains($0) ? $0 : nil }
      // Encoders divide their bit rate by it.
      if let declared { rate = max(declared, 1) }
      if clock.latest == nil {
        let start = configuration.startTime.map { LiveClock.timeBase.ticks(in: $0) + wall } ?? 0
        clock = LiveClock(frameRate: frameRate ?? rate, start: start)
        audio.start(at: start)
      }
      clock.open(
        frameRate: declared,
        lookAhead: LiveClock.timeBase.ticks(in: lookAhead / .seconds(1)))
      audio.begin()
      lossDetector = InputLossDetector()
      backlog = LiveBacklog(seconds: configuration.limits.lag)
    case .audioBegan: (hasAudio, lastAudio) = (true, wall)
    case .frame(let frame, let signal, let mark):
      try process(frame, signal, after: mark)
      for early in clock.isPlaced ? earlyAudio : [] {
        if let samples = early.take() { try add(samples, early.time, isEarly: true) }
      }
      if clock.isPlaced { earlyAudio = [] }
    case .audio(let samples, let raw):
      lastAudio = wall
      if clock.isPlaced { return try add(samples, raw) }
      if earlyAudio.count == EarlyAudio.limit { earlyAudio.removeFirst() }
      earlyAudio.append(EarlyAudio(samples, at: raw))
    case .lost(let reason):
      clock.lose()
      lastAudio = nil
      lose(reason)
    case .ended(let error):
      ending = error.map { .failed($0) } ?? .ended("the input ended")
      if held != nil, let error { ending = .ended(error.description) }
    }
  }

  /// Whether audio may arrive that belongs with the present frame. It goes on while the video pauses.
  var isAudioExpected: Bool {
    hasAudio && (lostAt == nil || lastAudio.map { wall - $0 < LiveClock.rate } ?? false)
  }

  /// Adds audio, at the publisher's time `raw`.
  ///
  /// - Parameter isEarly: Whether it arrived before the first frame. What belongs before that frame isn't heard.
  private func add(
    _ samples: consuming AudioFrame, _ raw: Int64, isEarly: Bool = false
  ) throws(UprightError) {
    let duration = audio.format.ticks(of: Int64(samples.count))
    let time = clock.audioTime(raw, duration: duration, wall: wall)
    guard let latest = clock.latest else { return }
    if isEarly, let time, time + duration <= latest { return }
    if time.map({ $0 < latest - LiveClock.maxTrackDistance }) ?? true {
      control.countDrop("audio")
      control.explain("the audio is more than 10 s away from its video: it is left out")
    }
    guard let time else { return }
    // While only the video is lost, the audio is real.
    if lostAt != nil { freeze(after: time + duration) }
    let leftOut = audio.leftOut
    try audio.add(samples, at: time) { (packet, share) throws(UprightError) in
      try send(packet, for: share)
    }
    if audio.leftOut > leftOut { leaveOut(audioAt: time) }
  }

  /// Counts audio whose time silence had taken before it came.
  private func leaveOut(audioAt time: Int64) {
    control.countDrop("audio")
    guard let latest = clock.latest, latest - time > LiveClock.rate else { return }
    let seconds = MediaTime(latest - time, LiveClock.timeBase).seconds
    control.explain(
      "audio came \((seconds * 10).rounded() / 10) s after its video: where there was silence already, it is left out"
    )
  }

  // MARK: - What is missing

  private func lose(_ reason: String) {
    lossReason = reason
    if held == nil { control.enter(.waiting, reason: reason) }
    guard lostAt == nil else { return }
    lostAt = wall
    if held != nil {
      control.policy { $0.pause() }
      control.enter(.inputLost, reason: reason)
      freeze(after: lastEncoded)
    }
  }

  /// Checks for missing input and for outputs that ended.
  private func checkInputAndOutputs() throws(UprightError) {
    let wall = wall
    let read = control.packets.counted
    let isWaiting = queue.depth > 0 || read.isBusy || control.packets.depth > 0
    let timeout = InputLossDetector.timeout(step: clock.step)
    let isLost = lossDetector.isLost(
      wall: wall, frames: read.frames, isBusy: isWaiting, timeout: timeout)
    if let since = read.surveyed, held == nil, since.secondsUntilNow > 2 {
      control.enter(.waiting, reason: "the stream doesn't say yet which tracks it has")
    }
    let isUndecodable = read.arrived - arrivedAtFrame > Self.undecodedPackets
    if isLost, lostAt == nil, clock.latest != nil || isUndecodable {
      let seconds = MediaTime(timeout, LiveClock.timeBase).seconds
      lose(
        isUndecodable
          ? "no frame can be decoded: a keyframe is missing, or the codec is another one"
          : timeout > LiveClock.rate
            ? "no frame for \((seconds * 10).rounded() / 10) s" : "no frame for a second")
    }
    let behind = control.packets.newest.lead(over: shown)
    control.recordBehind(
      lostAt == nil && backlog.isOverloaded(behind: behind, wall: wall)
        ? MediaTime(behind, LiveClock.timeBase).seconds : nil)
    if let lostAt, let held {
      // Only a few at a time, so that new input is noticed; none while frames are queued.
      for _ in 0..<4 where !isWaiting {
        guard let time = clock.repeatTime(wall: wall) else { break }
        if configuration.lowLatency != nil { try fill(before: time) }
        try show(held, at: time)
      }
      if wall - lostAt > inputTimeout {
        ending = .ended("no input for \(configuration.inputTimeout) s: \(lossReason)")
      }
    } else if let lostAt, held == nil, !waitsForInput, wall - lostAt > inputTimeout {
      ending = .failed(UprightError(.noInput, lossReason))
    }
    for entry in outputs.entries where entry.isIncomplete {
      // A playlist without one of its renditions can't be played.
      try detach(entry.writers)
      for writer in entry.writers { writer.queue.end() }
    }
    if let failure = outputs.failure { ending = .failed(failure) }
  }

  /// Whether a session that has shown nothing waits for its input without a time limit.
  private var waitsForInput: Bool {
    switch configuration.input {
    case .pull: false
    case .published: configuration.waitsForPublisher
    default: true
    }
  }

  // MARK: - The end

  private func finish() throws(UprightError) {
    control.policy { $0.finish() }
    if let latest = clock.latest {
      try audio.reach(latest + clock.step, isExpected: false) {
        (packet, share) throws(UprightError) in try send(packet, for: share)
      }
    }
    try audio.finish { (packet, share) throws(UprightError) in try send(packet, for: share) }
    for branch in branches { try branch.finish() }
  }

  /// Closes every output so that it is playable. Abandons an output that is stuck.
  private func close() {
    let writers = outputs.writers
    writers.forEach { $0.queue.end() }
    let deadline = ContinuousClock.now + OutputWriter.closeTimeouts.first
    let stuck = writers.filter { !$0.join(by: deadline) }
    stuck.forEach { $0.abandon() }
    let last = ContinuousClock.now + OutputWriter.closeTimeouts.last
    for writer in stuck { _ = writer.join(by: last) }
  }

  private func publish() {
    let read = control.packets.counted
    control.update { snapshot in
      var counters = snapshot.counters
      counters.framesIn = read.frames
      counters.bytesIn = read.bytes
      counters.decodeTimes = read.times
      counters.queueDepth = queue.depth
      counters.packetsLost = read.lost + configuration.input.lostPackets
      counters.keyframeInterval = read.keyframeInterval
      if read.damaged > 0 { counters.dropped["decode"] = read.damaged }
      if read.shed > 0 { counters.dropped["shed"] = read.shed }
      if read.refused > 0 { counters.dropped["codec"] = read.refused }
      let total = outputs.total
      if total.dropped > 0 { counters.dropped["output"] = total.dropped }
      counters.bytesOut = total.bytes
      counters.framesOut = closed.frames + (branches.first?.frames ?? 0)
      counters.formatChanges = closed.changes + (branches.first?.changes ?? 0)
      (counters.orientTimes, counters.encodeTimes) = (closed.orient, closed.encode)
      for branch in branches {
        counters.orientTimes.add(branch.times.orient)
        counters.encodeTimes.add(branch.times.encode)
      }
      snapshot.counters = counters
    }
    control.report(outputs.statuses)
    control.reportDecisions()
  }
}
