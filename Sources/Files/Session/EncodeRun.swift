internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The consumer side of one session: takes frames and packets off the queue, turns, encodes and writes them.
final class EncodeRun {
  private let plan: SessionPlan
  private let request: TranscodeRequest
  private let observe: (SessionUpdate) -> Void
  private let queue: BoundedQueue<SourceItem>
  /// `nil` if a tap receives the frames.
  private let output: OutputStage?
  private let started = ContinuousClock.now

  private var events: EventQueue
  private var director: FrameDirector?
  /// One pipeline for each canvas. The first gives the counts of frames and the changes of format.
  private let pipelines: [FramePipeline]
  private var pipeline: FramePipeline { pipelines[0] }
  /// For each canvas, what receives the packets of its largest rendition.
  private let emits: [FramePipeline.Emit]
  /// The layout of the current frame on each canvas.
  private var directions: [FrameDirection] = []
  /// The number of decisions passed to the observer.
  private var toldEntries = 0
  private var turns = PendingTurns()
  private var hasWarned = (guess: false, inexact: false)
  /// The first frame's timestamp: the zero of the media timeline.
  private var firstPTS: Int64?
  private var isPastEnd = false
  private typealias DirectedFrame = (
    frame: SharedFrame, signal: OrientationSignal?, time: MediaTime, directions: [FrameDirection]
  )
  /// The last frame before the requested start, which is shown at the start if it is held.
  private var beforeStart: DirectedFrame?
  /// The last frame so far, if the output has a requested end: it may be held until then.
  private var beforeEnd: DirectedFrame?
  /// The places of the frames at a constant rate; `nil` if each keeps its time, and before the first frame.
  private var places: FramePlaces?
  /// The last frame so far, at a constant rate: it is shown until the next one.
  private var shown: (frame: SharedFrame, time: MediaTime, directions: [FrameDirection])?
  /// The reader's state at the requested end; the reader runs ahead.
  private var upToEnd: SourceOutcome?
  private var lastProgress = ContinuousClock.now
  private var warnings: [String]
  private var hasLosses = false

  /// The policy's decisions so far; `nil` before the first frame.
  var orientationPlan: OrientationPlan? { director?.plan }
  /// The position of the last frame on the media timeline.
  var lastTime: MediaTime { pipeline.latest?.time ?? .zero }

  /// - Parameter tap: Receives the frames in place of encoders and output.
  init(
    _ plan: SessionPlan, tap: (any FrameTap)? = nil,
    observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    let plan = try plan.surveyed()
    self.plan = plan
    request = plan.request
    // Decoded frames are large, and in live mode each waiting frame adds delay. With one thread, decoding
    // ahead gains nothing.
    let ahead = plan.options.threads == 1 ? 0 : plan.options.isLive ? 1 : 4
    queue = BoundedQueue(capacity: ahead)
    self.observe = observe
    warnings = plan.warnings
    events = EventQueue(request.events, offset: request.options.eventsOffset)
    var setup = FramePipeline.Setup(plan)
    setup.tap = tap
    setup.observe = observe
    let output = tap == nil ? try OutputStage(plan) : nil
    self.output = output
    // A preview shows the first canvas.
    let canvases = tap == nil ? plan.canvases.indices : 0..<1
    if canvases.count > 1 {
      setup.preparation = FramePreparation(background: plan.options.background, isShared: true)
    }
    pipelines = canvases.map { canvas in
      if canvas > 0 { setup.observe = { _ in } }
      let pipeline = FramePipeline(plan, setup, canvas: canvas, isWhole: true)
      if let output { pipeline.rungs = plan.rungs(of: canvas, output) }
      return pipeline
    }
    emits = canvases.map { Self.emit(to: output, rendition: plan.firstRendition(of: $0)) }
  }

  /// Runs to the end and finishes the output.
  func run() throws(UprightError) -> TranscodeReport {
    let source = try SourceStage(
      demuxer: plan.demuxer, video: plan.video,
      sideStreams: output != nil ? Set(plan.sideTracks.map(\.stream.index)) : [],
      startPoint: plan.startPoint(), threads: request.options.threads,
      gravity: request.gravityUse, queue: queue)
    let reading = WorkThread(name: "upright-read") { source.run() }
    let outcome: SourceOutcome
    do throws(UprightError) {
      try consume()
      if let cancelled = request.cancelled { throw cancelled }
      try finishFrames()
      outcome = try Self.outcome(of: reading)
      let met = upToEnd ?? outcome
      if let warning = try plan.readingLosses(met, frames: pipeline.tally.frames) {
        warnings.append(warning)
        hasLosses = true
      }
      try finish()
    } catch {
      // Wakes the reader.
      queue.close()
      _ = reading.join()
      output?.abandon()
      throw error
    }
    return report(outcome)
  }

  /// Returns what writes the packets of a rendition.
  private static func emit(to output: OutputStage?, rendition: Int) -> FramePipeline.Emit {
    { (packet, format) throws(UprightError) in
      try output?.writeFrame(packet, format: format, rendition: rendition)
    }
  }

  private static func outcome(
    of reading: WorkThread<SourceOutcome>
  ) throws(UprightError) -> SourceOutcome {
    guard let outcome = reading.join() else {
      throw UprightError(.fault, "no result of the reader")
    }
    return outcome
  }

  private func consume() throws(UprightError) {
    while let item = queue.take() {
      if let cancelled = request.cancelled { throw cancelled }
      switch consume item {
      case .frame(let frame, let signal, let before):
        if upToEnd == nil {
          try encode(frame, signal)
          if isPastEnd { cut(before) }
        } else if let first = firstPTS, let pts = frame.pts,
          MediaTime(pts - first, frame.timeBase) > (plan.end ?? .zero) + Self.apart
        {
          return queue.close()
        }
      case .packet(let packet): try output?.write(packet)
      }
      if upToEnd != nil, output?.hasAudioToTheEnd ?? true { return queue.close() }
    }
  }

  /// How far audio may be behind the frames of the same time in a file.
  private static let apart = MediaTime(5, .one)

  /// - Parameter before: The reader's state at the first frame after the requested end.
  private func cut(_ before: SourceOutcome) {
    var before = before
    if let firstPTS, let end = plan.end {
      let first = max(.zero, end - .millisecond).roundedUp(to: plan.video.timeBase)
      before.leaveOut(from: firstPTS + first.plausibleTicks(of: first.timeBase))
    }
    upToEnd = before
  }

  // MARK: - Frames

  private func encode(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?
  ) throws(UprightError) {
    guard let pts = frame.pts else { throw UprightError(.fault, "a frame without a timestamp") }
    let firstPTS = self.firstPTS ?? begin(at: pts)
    let time = MediaTime(pts - firstPTS, frame.timeBase)
    if director == nil { try prepare(frame) }
    try direct(frame, time, signal)
    if let start = plan.start, time < start - .millisecond {
      beforeStart = (SharedFrame(frame), signal, time, directions)
      return
    }
    let directions = directions
    try encodeHeld(until: time)
    try putLast(until: time)
    guard let end = plan.end else { return try put(frame, signal, time, directions) }
    if time >= end - .millisecond {
      isPastEnd = true
    } else {
      beforeEnd = (SharedFrame(frame), signal, time, directions)
    }
  }

  /// Encodes the frame that may be held until the requested end, which lasts until `next`; `nil` for as long as it
  /// says. libavformat gives frames of a file with composition offsets the usual duration.
  private func putLast(until next: MediaTime?) throws(UprightError) {
    guard let last = beforeEnd.take(), let end = plan.end else { return }
    var frame = try last.frame.frame.shared()
    let own = MediaTime(frame.duration, frame.timeBase)
    let rest = min(next.map { $0 - last.time } ?? own, end - last.time)
    frame.duration = max(1, rest.plausibleTicks(of: frame.timeBase))
    let (signal, time, directions) = (last.signal, last.time, last.directions)
    try put(frame, signal, time, directions)
  }

  /// Shows the frame before the requested start at the start, if it lasts until `next` and that is longer than
  /// one frame or a gap that is seen; `nil` for the end of the input.
  private func encodeHeld(until next: MediaTime?) throws(UprightError) {
    guard let held = beforeStart.take(), let start = plan.start, let firstPTS else { return }
    var frame = try held.frame.frame.shared()
    let tick = frame.timeBase
    let own = frame.duration > 0 ? MediaTime(frame.duration, tick) : usualStep
    let itsEnd = next ?? held.time + own
    if request.beginsWithShown, itsEnd >= start + .millisecond {
      return try put(frame, held.signal, held.time, held.directions)
    }
    guard itsEnd - start >= min(usualStep, Self.longestGap) else { return }
    let end = plan.end.map { min($0, itsEnd) } ?? itsEnd
    let first = start.roundedUp(to: tick)
    frame.pts = firstPTS + first.plausibleTicks(of: tick)
    frame.duration = max(1, (end - first).plausibleTicks(of: tick))
    let signal = held.signal
    try direct(frame, start, signal)
    try put(frame, signal, start, directions)
  }

  /// The longest time without a picture at the start of an output.
  private static let longestGap = MediaTime(1, Rational(1, 10))

  /// The usual time from one frame to the next.
  private var usualStep: MediaTime {
    guard let rate = plan.video.frameRate, rate.numerator > 0 else {
      return MediaTime(1, Rational(1, 25))
    }
    return MediaTime(1, rate.inverted)
  }

  /// Encodes a frame of the requested part.
  private func put(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?, _ time: MediaTime,
    _ directions: [FrameDirection]
  ) throws(UprightError) {
    warn(directions[0], signal, time)
    guard places != nil else { return try process(frame, time, directions) }
    try putShown(until: time)
    shown = (SharedFrame(frame), time, directions)
  }

  /// Encodes the last frame of a constant rate once for each of its places.
  ///
  /// - Parameter next: The time of the next frame; `nil` at the end, where the frame lasts as long as it says.
  private func putShown(until next: MediaTime?) throws(UprightError) {
    guard let last = shown.take() else { return }
    let own = MediaTime(last.frame.frame.duration, last.frame.frame.timeBase)
    let end = next ?? last.time + (own > .zero ? own : usualStep)
    guard end - last.time <= Self.longest else {
      throw UprightError(
        .badData, "a frame at \(last.time.seconds) s lasts \((end - last.time).seconds) s",
        at: request.input, remedy: "leave out --constant-rate, which would repeat it")
    }
    let isOnly = next == nil && pipeline.tally.frames == 0
    guard let taken = places?.take(until: end, isOnly: isOnly) else { return }
    for place in taken {
      if let cancelled = request.cancelled { throw cancelled }
      try putShown(last.frame, last.directions, at: place)
    }
  }

  private func putShown(
    _ shown: SharedFrame, _ directions: [FrameDirection], at place: Int64
  ) throws(UprightError) {
    guard let places, let firstPTS else { return }
    var frame = try shown.frame.shared()
    let zero = places.place(of: MediaTime(firstPTS, frame.timeBase))
    frame.rescale(to: places.step)
    (frame.pts, frame.duration) = (zero + place, 1)
    try process(frame, places.time(of: place), directions)
  }

  /// How long a frame may be at a constant rate.
  private static let longest = MediaTime(3600, .one)

  private func process(
    _ frame: consuming VideoFrame, _ time: MediaTime, _ directions: [FrameDirection]
  ) throws(UprightError) {
    for index in pipelines.indices.dropFirst() {
      try pipelines[index].process(try frame.shared(), directions[index], time, emit: emits[index])
    }
    try pipeline.process(frame, directions[0], time, emit: emits[0])
    if lastProgress.secondsUntilNow > 0.1 { reportProgress() }
  }

  private func warn(_ direction: FrameDirection, _ signal: OrientationSignal?, _ time: MediaTime) {
    if plan.isCanvasUnconfirmed, direction.missesShape, !hasWarned.guess {
      hasWarned.guess = true
      warnings.append(
        "the canvas has the shape at the first frame: the longest orientation is not known in advance"
      )
    }
    if let signal, !hasWarned.inexact, let warning = plan.warning(of: signal, at: time) {
      hasWarned.inexact = true
      warnings.append(warning)
    }
  }

  private func finishFrames() throws(UprightError) {
    if !isPastEnd { try encodeHeld(until: nil) }
    try putLast(until: nil)
    try putShown(until: nil)
    for (index, pipeline) in pipelines.enumerated() { try pipeline.finish(emit: emits[index]) }
  }

  private func begin(at pts: Int64) -> Int64 {
    firstPTS = pts
    let first = MediaTime(pts, plan.video.timeBase)
    places = plan.constantRate.map { FramePlaces($0, start: plan.start ?? .zero) }
    if let start = plan.start {
      let zero =
        places.map { $0.time(of: $0.place(of: first) + $0.place(of: start)) } ?? first + start
      for pipeline in pipelines { pipeline.shift = zero.plausibleTicks(of: plan.videoTimeBase) }
    }
    return pts
  }

  private func prepare(_ frame: borrowing VideoFrame) throws(UprightError) {
    let shape = frame.shape
    let guidance = try plan.guidance(first: plan.source?.shape ?? shape)
    director = try request.director(size: shape.shown, guidance: guidance, canvas: plan.canvas)
    for canvas in plan.canvases.dropFirst() {
      director?.add(DirectedCanvas(canvas, guidance: guidance))
    }
  }

  /// Determines how the frame is laid out on each canvas.
  private func direct(
    _ frame: borrowing VideoFrame, _ time: MediaTime, _ signal: OrientationSignal?
  ) throws(UprightError) {
    guard director != nil else { throw UprightError(.fault, "a frame before the policy") }
    let seconds = time.seconds
    for event in try events.take(upTo: seconds + OrientationTimeline.grain) {
      try director?.push(event)
    }
    try director?.directAll(
      at: seconds, size: frame.shape.shown, signal: signal?.turn, into: &directions)
    reportDecisions()
    guard let output, let pts = frame.pts else { return }
    turns.log(
      upTo: seconds, as: shownTime(of: MediaTime(pts, frame.timeBase), time), in: output.turns)
  }

  /// When the output shows a frame.
  ///
  /// - Parameters:
  ///   - pts: Its timestamp in the input.
  ///   - time: Its time on the media timeline.
  private func shownTime(of pts: MediaTime, _ time: MediaTime) -> MediaTime {
    let first = MediaTime(firstPTS ?? 0, plan.video.timeBase)
    guard let places else { return pts - (plan.start.map { first + $0 } ?? .zero) }
    let place = places.first(at: time) - (plan.start.map(places.place) ?? 0)
    return places.time(of: (plan.start == nil ? places.place(of: first) : 0) + place)
  }

  private func reportDecisions() {
    guard let plan = director?.plan else { return }
    while toldEntries < plan.entries.count {
      observe(.decision(plan.entries[toldEntries]))
      turns.add(plan.entries[toldEntries...toldEntries])
      toldEntries += 1
    }
  }

  private func reportProgress() {
    guard let latest = pipeline.latest else { return }
    lastProgress = .now
    observe(
      .progress(
        SessionProgress(
          frames: pipeline.tally.frames, seconds: (latest.time - (plan.start ?? .zero)).seconds,
          duration: plan.partDuration?.seconds,
          appOrientation: latest.app.name, elapsed: started.secondsUntilNow)))
  }

  // MARK: - Results

  private func finish() throws(UprightError) {
    try output?.endTracks()
    for event in try events.takeRest() { try director?.push(event) }
    director?.finish()
    reportDecisions()
    // Report progress at least once, however short the input is.
    reportProgress()
    try output?.finish()
  }

  private func report(_ outcome: SourceOutcome) -> TranscodeReport {
    if request.options.frames.isSignalled { warnings += outcome.warnings }
    if let plan = director?.plan { warnings += plan.warnings }
    var outcome = outcome
    for pipeline in pipelines {
      warnings += pipeline.warnings.filter { !warnings.contains($0) }
      outcome.droppedMetadata.formUnion(pipeline.losses)
    }
    if let places, places.leftOut > 0 {
      outcome.droppedMetadata.insert(
        "\(places.leftOut) frame\(places.leftOut == 1 ? "" : "s"): shorter than a frame of the constant rate"
      )
    }
    // Lost frames leave gaps, which the losses report.
    if plan.container == .y4m, output != nil, !hasLosses,
      pipeline.tally.hasUnevenSteps(tick: plan.video.timeBase)
    {
      warnings.append(
        "the frame rate varies: YUV4MPEG2 has a fixed one, so timestamps are lost")
    }
    return TranscodeReport(
      plan: plan, tally: pipeline.tally, output: output, outcome: outcome,
      decisions: director?.plan.entries ?? [],
      warnings: warnings, wall: started.secondsUntilNow)
  }
}
