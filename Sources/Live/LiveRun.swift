internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightEncoding
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// Runs a live session on its own thread: places frames with the live clock, lays them out according to the
/// policy, encodes them once for each set of encode settings, and queues the packets for the outputs. Fills
/// gaps in the input.
final class LiveRun {
  var configuration: LiveConfiguration
  let control: LiveControl
  private let queue = BoundedQueue<LiveItem>(capacity: capacity)
  private let reader: LiveReader
  var stills: SessionStills
  private let started = ContinuousClock.now

  private var clock = LiveClock()
  private let audio: LiveAudio
  /// The encodes. The first one gives the counts of frames and the changes of format.
  var branches: [LiveBranch] = []
  /// Whether the first branch has the first canvas, which the policy keeps to the end.
  var hasFirstCanvas = false
  /// What branches that were closed have counted.
  var closed = (
    frames: 0, changes: 0, orient: DurationHistogram(), encode: DurationHistogram()
  )
  var outputs: LiveOutputList
  /// The changes that take effect at the next frame.
  var changes:
    [(change: LiveChange, stills: SessionStills, reply: LiveCommand.Reply<AppliedChange>)] = []
  /// The sizes by the first frame; `nil` before it.
  var sourceGuidance: StreamGuidance?

  /// Whether the first frame has arrived.
  var isStarted: Bool { sourceGuidance != nil }

  /// `LiveConfiguration.inputTimeout`, in ticks.
  private let inputTimeout: Int64
  private var rate = 30.0
  private var hasAudio = false
  /// The frame that is repeated while no frames arrive.
  private var held: (shared: SharedFrame, signal: OrientationSignal?)?
  /// The time when the input was lost, in ticks; `nil` while it is present.
  private var lostAt: Int64?
  private var lossReason = "no input"
  private var backlog: LiveBacklog
  private var lossDetector = InputLossDetector()
  /// The total time waited for the input, in seconds, as of the last frame.
  private var waited = 0.0
  private var lastEncoded: Int64 = 0
  /// How the session ends, once it must.
  private var ending: LiveEnding?

  /// The number of decoded items between the two threads. Further input waits undecoded: one decoded frame of
  /// 640x360 takes as much memory as seconds of encoded video.
  private static let capacity = 4
  /// The slate is shown after this time without input, in ticks.
  private static let slateAfter = 2 * LiveClock.rate

  init(
    _ configuration: LiveConfiguration, _ targets: [LiveTarget], _ control: LiveControl
  ) throws(UprightError) {
    self.configuration = configuration
    self.control = control
    inputTimeout = LiveClock.timeBase.ticks(in: configuration.inputTimeout)
    backlog = LiveBacklog(seconds: configuration.limits.lag)
    stills = try SessionStills(configuration.options)
    audio = try LiveAudio()
    let (track, earliest) = (try audio.track(), audio.earliest)
    outputs = LiveOutputList(limit: configuration.limits.outputs) { target in
      target.writer(configuration, audio: track, earliest: earliest) { control.comesBack }
    }
    let ids = LiveOutputList.ids(configuration.outputIDs, count: targets.count)
    for (target, id) in zip(targets, ids) { outputs.add(target, configuredAs: id) }
    reader = LiveReader(
      configuration.input, proxy: configuration.httpProxy, pixels: configuration.limits.pixels,
      audioFormat: audio.format, interrupt: control.interrupt, queue: queue)
  }

  /// Runs the session to its end. Returns how it ended.
  func run() -> LiveEnding {
    let reader = reader
    let reading = WorkThread(name: "upright-live-in") { reader.run() }
    outputs.writers.forEach { $0.start() }
    do throws(UprightError) {
      while ending == nil && !control.interrupt.isRaised { try step() }
      try finish()
    } catch {
      ending = .failed(error)
    }
    control.interrupt.raise()
    configuration.input.close()
    queue.close()
    control.endCommands()
    for waiting in changes { waiting.reply(.failure(WaitingCommands.ended)) }
    changes = []
    close()
    _ = reading.join()
    publish()
    return ending ?? .ended("stopped")
  }

  // MARK: - The loop

  private var wall: Int64 {
    let elapsed = started.duration(to: .now).components
    return elapsed.seconds * LiveClock.rate
      + elapsed.attoseconds / (1_000_000_000_000_000_000 / LiveClock.rate)
  }

  private func step() throws(UprightError) {
    for command in control.takeCommands() { perform(command) }
    // During a loss, repeated frames are due at every step; otherwise only the state is checked.
    if let item = queue.take(within: lostAt != nil && held != nil ? 0.01 : 0.05) {
      try process(item)
    } else if queue.hasEnded {
      ending = ending ?? .ended("the input ended")
    }
    try checkInputAndOutputs()
    publish()
  }

  private func process(_ item: consuming LiveItem) throws(UprightError) {
    switch consume item {
    case .opened(let hasAudio, let frameRate):
      self.hasAudio = hasAudio
      if let frameRate, frameRate.isFinite, (1...240).contains(frameRate) { rate = frameRate }
      if clock.latest == nil { clock = LiveClock(frameRate: rate) }
      backlog = LiveBacklog(seconds: configuration.limits.lag)
    case .frame(let frame, let signal): try process(frame, signal)
    case .audio(let samples, let raw):
      let duration = audio.format.ticks(of: Int64(samples.count))
      guard let time = clock.audioTime(raw, duration: duration, wall: wall) else { return }
      try audio.add(samples, at: time) { (packet) throws(UprightError) in try send(packet) }
    case .lost(let reason):
      clock.lose()
      lose(reason)
    case .ended(let error):
      ending = error.map { .failed($0) } ?? .ended("the input ended")
      if held != nil, let error { ending = .ended(error.description) }
    }
  }

  private func process(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?
  ) throws(UprightError) {
    let wall = wall
    guard let time = clock.frameTime(frame.pts, wall: wall) else {
      return control.countDrop("late")
    }
    let waits = reader.currentCounters.waited
    let isDropped = backlog.drops(
      time, wall: wall, waited: LiveClock.timeBase.ticks(in: waits - waited), step: clock.step,
      shown: lastEncoded)
    waited = waits
    reader.shed(backlog.isCatchingUp)
    if isDropped { return control.countDrop("queue") }
    if sourceGuidance == nil { try start(with: frame) }
    if lostAt != nil || control.state == .waiting { control.enter(.live) }
    lostAt = nil
    try fill(before: time)
    frame.pts = time
    frame.duration = clock.step
    held = (SharedFrame(try frame.shared()), signal)
    try show(frame, signal)
  }

  /// Repeats the last frame in a gap of the input. Without frames there is no keyframe, and a segment would
  /// be longer than the playlist's target duration.
  private func fill(before time: Int64) throws(UprightError) {
    guard outputs.entries.contains(where: \.target.output.hasSegments), let held else { return }
    let step = LivePlaylist.longestHole.plausibleTicks(of: LiveClock.timeBase)
    for _ in 0..<30 {
      guard time - lastEncoded > step else { return }
      try show(held, at: lastEncoded + step)
    }
  }

  /// Creates the policy's director and the encodes of all outputs.
  private func start(with frame: borrowing VideoFrame) throws(UprightError) {
    let options = configuration.options
    var policy = configuration.policy
    // If no event gave the device orientation, the shape of upright frames determines it.
    if options.frames == .upright, !control.policy({ $0.hasEarlyEvents }) {
      policy.device.orientation = DeviceOrientation(frameOf: frame.size, lying: .up)
    }
    let source = try StreamGuidance.ofSource(frame, captureSize: options.captureSize)
    sourceGuidance = source
    let first = outputs.entries.first { !$0.isStopped }?.target.encoding
    hasFirstCanvas = first != nil
    let guidance = first?.guidance ?? source
    let director = try FrameDirector(
      policy: policy, guidance: guidance, frames: options.frames,
      reference: options.reference, canvas: first?.canvas ?? .follow, signalsAreEvents: true,
      gravity: options.gravity, levels: options.levels)
    control.policy { $0.start(with: director) }
    for entry in outputs.entries where !entry.isStopped {
      branch(for: entry.target.encoding, source).add(entry.writer)
    }
  }

  /// Returns the encode with these settings, a new one if there is none.
  func branch(for encoding: LiveEncoding, _ source: StreamGuidance) -> LiveBranch {
    if let branch = branches.first(where: { $0.encoding == encoding }) { return branch }
    if !(branches.isEmpty && hasFirstCanvas) {
      control.policy {
        $0.add(DirectedCanvas(encoding.canvas, guidance: encoding.guidance ?? source))
      }
    }
    let branch = LiveBranch(encoding, configuration, stills: stills, rate: rate) {
      [weak self] update in
      guard let self, branches.first?.encoding == encoding else { return }
      if case .format(let change) = update { control.notify(.format(change)) }
    }
    branches.append(branch)
    return branch
  }

  /// The index of a branch's canvas in the directions.
  func canvas(of branch: Int) -> Int { hasFirstCanvas ? branch : branch + 1 }

  /// Encodes a frame again.
  private func show(
    _ held: (shared: SharedFrame, signal: OrientationSignal?), at time: Int64
  ) throws(UprightError) {
    var frame = try held.shared.frame.shared()
    frame.pts = time
    frame.duration = clock.step
    try show(frame, held.signal)
  }

  /// Lays out and encodes a frame, and queues its packets. The frame's timestamp is in media time.
  private func show(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?
  ) throws(UprightError) {
    guard let time = frame.pts else { throw UprightError(.fault, "a frame without a timestamp") }
    let moment = MediaTime(time, LiveClock.timeBase)
    let seconds = moment.seconds
    let size = frame.size
    let applied = applyChanges(at: seconds)
    var directions: [FrameDirection] = []
    var arrivals: [ContinuousClock.Instant] = []
    try control.policy { (policy: inout LivePolicy) throws(UprightError) -> Void in
      directions = try policy.direct(at: seconds, size: size, signal: signal)
      arrivals = policy.takeArrivals()
    }
    // Silence for missing audio is inserted before the frame that it belongs with, so that no frame waits for
    // the encoder's delay.
    let isExpected = hasAudio && lostAt == nil
    try audio.reach(isExpected ? time : time + audio.delay, isExpected: isExpected) {
      (packet) throws(UprightError) in try send(packet)
    }
    let isSlate = lostAt.map { wall - $0 >= Self.slateAfter } ?? false
    for (index, branch) in branches.enumerated() where canvas(of: index) < directions.count {
      var direction = directions[canvas(of: index)]
      if isSlate, stills.slate != nil { direction.isCaptureEnabled = false }
      try branch.encode(try frame.shared(), direction, moment)
    }
    lastEncoded = time
    for answer in applied { answer() }
    control.recordFrame(directions.first, at: seconds, arrivals: arrivals)
  }

  private func send(_ packet: consuming Packet) throws(UprightError) {
    for branch in branches { try branch.addAudio(try packet.shared()) }
  }

  // MARK: - What is missing

  private func lose(_ reason: String) {
    lossReason = reason
    if held == nil { control.enter(.waiting, reason: reason) }
    guard lostAt == nil else { return }
    lostAt = wall
    if held != nil { control.enter(.inputLost, reason: reason) }
  }

  /// Checks for missing input and for outputs that ended.
  private func checkInputAndOutputs() throws(UprightError) {
    let wall = wall
    let read = reader.currentCounters
    let isWaiting = queue.depth > 0 || read.isBusy
    let isLost = lossDetector.isLost(wall: wall, arrived: read.arrived, isBusy: isWaiting)
    if isLost, lostAt == nil, clock.latest != nil { lose("no frame for a second") }
    control.recordBehind(
      lostAt == nil && backlog.isOverloaded(wall: wall)
        ? MediaTime(backlog.behind, LiveClock.timeBase).seconds : nil)
    if let lostAt, let held {
      // Only a few at a time, so that new input is noticed; none while frames are queued.
      for _ in 0..<4 where !isWaiting {
        guard let time = clock.repeatTime(wall: wall) else { break }
        try show(held, at: time)
      }
      if wall - lostAt > inputTimeout {
        ending = .ended("no input for \(configuration.inputTimeout) s: \(lossReason)")
      }
    } else if let lostAt, held == nil, case .pull = configuration.input,
      wall - lostAt > inputTimeout
    {
      ending = .failed(UprightError(.noInput, lossReason))
    }
    if let failure = outputs.failure { ending = .failed(failure) }
  }

  // MARK: - The end

  private func finish() throws(UprightError) {
    control.policy { $0.finish() }
    if let latest = clock.latest {
      try audio.reach(latest + clock.step, isExpected: false) { (packet) throws(UprightError) in
        try send(packet)
      }
    }
    try audio.finish { (packet) throws(UprightError) in try send(packet) }
    for branch in branches { try branch.finish() }
  }

  /// Closes every output so that it is playable. Abandons an output that is stuck.
  private func close() {
    let writers = outputs.writers
    writers.forEach { $0.queue.end() }
    let deadline = DispatchTime.now() + OutputWriter.closeTimeouts.first
    let stuck = writers.filter { !$0.join(by: deadline) }
    stuck.forEach { $0.abandon() }
    let last = DispatchTime.now() + OutputWriter.closeTimeouts.last
    for writer in stuck { _ = writer.join(by: last) }
  }

  private func publish() {
    let read = reader.currentCounters
    control.update { snapshot in
      var counters = snapshot.counters
      counters.framesIn = read.frames
      counters.bytesIn = read.bytes
      counters.decodeTimes = read.times
      counters.queueDepth = queue.depth
      if read.damaged > 0 { counters.dropped["decode"] = read.damaged }
      if read.shed > 0 { counters.dropped["shed"] = read.shed }
      let total = outputs.total
      if total.dropped > 0 { counters.dropped["output"] = total.dropped }
      counters.bytesOut = total.bytes
      counters.framesOut = closed.frames + (branches.first?.tally.frames ?? 0)
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

extension StreamGuidance {
  /// Returns guidance with the source's upright size, rounded down to even.
  static func ofSource(
    _ frame: borrowing VideoFrame, captureSize: PixelSize?
  ) throws(UprightError) -> StreamGuidance {
    let upright = Placement.uprightSize(
      source: frame.size, sampleAspectRatio: frame.sampleAspectRatio, orientation: .up)
    let guidance = StreamGuidance(encodeSize: upright, captureSize: captureSize)
    do throws(PolicyError) { try guidance.check() } catch {
      throw UprightError(error, code: .usage)
    }
    return guidance
  }
}
