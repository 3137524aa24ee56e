internal import Foundation
internal import MediaIO
internal import Orientation
internal import RotationPolicy

/// The writing side of one session: takes frames and packets off the queue, turns, encodes, writes.
final class SessionRun {
  private let plan: SessionPlan
  private let session: TranscodeSession
  private let observe: (SessionUpdate) -> Void
  private let queue = BoundedQueue<SourceItem>(capacity: 8)
  /// Nil where a tap takes the pictures.
  private let output: OutputStage?
  private let tap: (any PictureTap)?
  private let started = ContinuousClock.now

  private var feed: EventFeed
  private var director: FrameDirector?
  private var orienter: FrameOrienter?
  private var stage: PictureStage?
  private var chain: EncoderChain?
  private var fields: FieldStage?
  private let plain: PlainPictures
  private var keyframes: KeyframeClock
  private var tally: SessionTally
  /// The first frame's timestamp: the zero of the media timeline.
  private var origin: Int64?
  private var isPastEnd = false
  /// How reading had gone where the end was cut; the reader runs ahead.
  private var upToEnd: SourceOutcome?
  private var lastProgress = ContinuousClock.now
  private var latest: (seconds: Double, app: InterfaceOrientation)?
  private var warnings: [String]

  /// The policy's answers so far; nil before the first frame.
  var orientationPlan: OrientationPlan? { director?.plan }
  /// Seconds on the media timeline of the last frame taken.
  var lastSeconds: Double { latest?.seconds ?? 0 }

  /// - Parameter tap: takes the pictures in the place of encoders and output.
  init(
    _ plan: SessionPlan, tap: (any PictureTap)? = nil,
    observe: @escaping (SessionUpdate) -> Void
  ) throws(MediaError) {
    self.plan = plan
    self.tap = tap
    session = plan.session
    self.observe = observe
    warnings = plan.warnings
    feed = EventFeed(session.events, offset: session.options.eventsOffset)
    keyframes = KeyframeClock(
      every: plan.container.isSegmented ? session.options.segmentDuration : nil)
    tally = SessionTally(timeBase: plan.pictureTimeBase)
    plain = PlainPictures(background: session.options.background)
    output = tap == nil ? try OutputStage(plan) : nil
  }

  /// Runs to the end and closes the output.
  func run() throws(MediaError) -> TranscodeReport {
    let source = try SourceStage(
      demuxer: plan.demuxer, video: plan.video,
      sideStreams: tap == nil ? Set(plan.sideTracks.map(\.stream.index)) : [],
      startPoint: plan.startPoint(), threads: session.options.threads, queue: queue)
    let reading = WorkThread(name: "upright-read") { source.run() }
    let outcome: SourceOutcome
    do throws(MediaError) {
      try consume()
      try fields?.finish(next: encode)
      outcome = try Self.outcome(of: reading)
      try judge(outcome)
      try finish()
    } catch {
      // Lets the reader go, whatever it waits for.
      queue.close()
      _ = reading.join()
      output?.abandon()
      throw error
    }
    return report(outcome)
  }

  private static func outcome(
    of reading: WorkThread<SourceOutcome>
  ) throws(MediaError) -> SourceOutcome {
    guard let outcome = reading.join() else { throw MediaError(.fault, "the reader was lost") }
    return outcome
  }

  private func consume() throws(MediaError) {
    while let item = queue.take() {
      switch consume item {
      case .frame(let frame, let signal, let before):
        try take(frame, signal)
        if isPastEnd { cut(before) }
      case .packet(let packet): try output?.take(packet)
      }
      if isPastEnd {
        queue.close()
        return
      }
    }
  }

  /// - Parameter before: how reading had gone at the first frame that is not wanted.
  private func cut(_ before: SourceOutcome) {
    var before = before
    if let origin, let end = session.options.end {
      let ticks = (end - OrientationTimeline.grain) / plan.video.timeBase.doubleValue
      before.leaveOut(from: origin + Int64(max(0, min(1e15, ticks.rounded(.up)))))
    }
    upToEnd = before
  }

  // MARK: - Pictures

  private func take(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?
  ) throws(MediaError) {
    guard let pts = frame.pts else { throw MediaError(.fault, "a frame without a time") }
    let origin = self.origin ?? startOrigin(pts)
    let seconds = Double(pts - origin) * frame.timeBase.doubleValue
    if director == nil { try prepare(frame) }
    let direction = try direct(frame, seconds, signal)
    if let start = session.options.start, seconds < start - OrientationTimeline.grain { return }
    if let end = session.options.end, seconds >= end - OrientationTimeline.grain {
      isPastEnd = true
      return
    }
    if plan.canvasIsAGuess, direction.missesShape, tally.noteGuess() {
      warnings.append(
        "the canvas stayed as the first frame wanted it: what lasts longest cannot be known ahead here"
      )
    }
    if let signal, !signal.isExact, session.options.frames == .metadata,
      !session.options.levels, tally.noteInexact()
    {
      warnings.append(
        "at \(seconds): the \(signal.source.rawValue) signal is no multiple of 90 degrees; the nearest quarter turn is used (--level follows it)"
      )
    }
    guard let fields, let orienter else { throw MediaError(.fault, "a frame before the encoder") }
    let frame = try plain.plain(frame)
    let placement = orienter.placement(
      of: frame.size, sampleAspectRatio: plan.sampleAspectRatio(of: frame), turn: direction.turn,
      canvas: direction.canvas)
    try fields.take(frame, direction, seconds, by: placement, next: encode)
  }

  private func startOrigin(_ pts: Int64) -> Int64 {
    origin = pts
    return pts
  }

  private func prepare(_ frame: borrowing VideoFrame) throws(MediaError) {
    let guidance = try plan.guidance(
      firstSize: frame.size, sampleAspectRatio: plan.sampleAspectRatio(of: frame))
    director = try session.director(size: frame.size, guidance: guidance, canvas: plan.canvas)
    let settings = plan.encoderSettings(first: frame)
    if settings.format.bitDepth < frame.format.bitDepth {
      warnings.append(
        "\(frame.format.bitDepth)-bit pictures are encoded with \(settings.format.bitDepth) bits"
          + (settings.format.bitDepth < 10 ? "; --codec hevc keeps 10" : "")
      )
    }
    let orienter = FrameOrienter(
      format: settings.format,
      layout: .init(
        fit: session.options.fit, anchor: session.options.anchor,
        background: session.options.background, filter: session.options.filter,
        scaler: session.options.scaler))
    self.orienter = orienter
    stage = PictureStage(orienter: orienter, stills: plan.stills)
    chain = EncoderChain(settings, followsColour: session.canFollow)
    fields = FieldStage(codec: settings.codec, format: settings.format)
    if !settings.codec.carriesHDR && !frame.colour.hdr.isEmpty {
      warnings.append(
        "HDR10 mastering data is left out: \(plan.container.rawValue) has no place for it")
    }
  }

  private func direct(
    _ frame: borrowing VideoFrame, _ seconds: Double, _ signal: OrientationSignal?
  ) throws(MediaError) -> Direction {
    for event in try feed.take(upTo: seconds + OrientationTimeline.grain) {
      try director?.push(event)
    }
    guard
      let direction = try director?.direct(at: seconds, size: frame.size, signal: signal)
    else { throw MediaError(.fault, "a frame before the policy") }
    tellDecisions()
    return direction
  }

  private func tellDecisions() {
    guard let plan = director?.plan else { return }
    while tally.toldEntries < plan.entries.count {
      observe(.decision(plan.entries[tally.toldEntries]))
      tally.toldEntries += 1
    }
  }

  private func encode(
    _ frame: consuming VideoFrame, _ direction: Direction, _ seconds: Double
  ) throws(MediaError) {
    guard let orienter, let stage, let chain else {
      throw MediaError(.fault, "a frame before the encoder")
    }
    let shape = plan.sampleAspectRatio(of: frame)
    let placement = orienter.placement(
      of: frame.size, sampleAspectRatio: shape, turn: direction.turn, canvas: direction.canvas)
    let orienting = ContinuousClock.now
    var picture = try stage.picture(of: frame, direction, placement, shape: shape)
    picture.fields = FieldStage.fields(frame.fields, after: placement.orientation)
    tally.orientSeconds += orienting.secondsUntilNow
    retime(&picture)
    if let change = tally.note(direction, placement, at: seconds) {
      observe(.format(change))
    }
    if !session.canFollow, tally.noteColour(picture.colour) {
      warnings.append(
        "at \(seconds): the colour's description changed; \(plan.container.rawValue) keeps the first"
      )
    }
    tally.frames += 1
    tally.end(picture)
    if let tap {
      try tap.take(stored: frame, upright: picture, direction: direction, seconds: seconds)
    } else {
      picture.forcesKeyframe = keyframes.isDue(at: seconds, canvas: direction.canvas)
      let encoding = ContinuousClock.now
      try chain.encode(picture) { (packet, format) throws(MediaError) in
        try output?.takePicture(packet, format: format)
      }
      tally.encodeSeconds += encoding.secondsUntilNow
    }
    latest = (seconds, direction.format.appOrientation)
    if lastProgress.secondsUntilNow > 0.1 { tellProgress() }
  }

  /// From the source's ticks to the encoder's, which divide them.
  private func retime(_ picture: inout VideoFrame) {
    picture.rescale(to: plan.pictureTimeBase)
    if let start = session.options.start, let origin {
      let shift = Double(origin) * plan.video.timeBase.doubleValue + start
      picture.pts = picture.pts.map {
        $0 - Int64((shift / plan.pictureTimeBase.doubleValue).rounded())
      }
    }
  }

  private func tellProgress() {
    guard let latest else { return }
    lastProgress = .now
    observe(
      .progress(
        SessionProgress(
          frames: tally.frames, seconds: latest.seconds, duration: plan.duration,
          appOrientation: latest.app.name, elapsed: started.secondsUntilNow)))
  }

  // MARK: - The end

  /// Says what was lost, or throws where nothing came of it.
  private func judge(_ outcome: SourceOutcome) throws(MediaError) {
    if tally.frames == 0 {
      if outcome.isStopped { throw MediaError(.cancelled, "stopped", at: session.input) }
      if let error = outcome.error { throw error }
      if session.options.start != nil || session.options.end != nil, outcome.frames > 0 {
        throw MediaError(
          .usage, "no frame lies in the part that is wanted", at: session.input,
          remedy: "check --start and --to")
      }
      throw MediaError(
        .badData, "no frame can be decoded", at: session.input, remedy: "the clip is damaged")
    }
    let met = upToEnd ?? outcome
    let losses = plan.losses(met, sound: plan.sideTracks.map(\.damagedPackets).reduce(0, +))
    guard !losses.isEmpty else { return }
    if session.options.isStrict {
      throw MediaError(
        .badData, losses.joined(separator: "; "), at: session.input,
        remedy: "leave out --strict to keep what can be decoded")
    }
    if let error = met.error, error.code == .inputOutput,
      InputTrust.scheme(of: session.input) == nil
    {
      throw error
    }
    warnings.append("the input is damaged: " + losses.joined(separator: "; "))
  }

  private func finish() throws(MediaError) {
    try chain?.finish { (packet, format) throws(MediaError) in
      try output?.takePicture(packet, format: format)
    }
    try output?.endTracks()
    for event in try feed.takeRest() { try director?.push(event) }
    director?.finish()
    tellDecisions()
    // However short the clip, how far it came is told once.
    tellProgress()
    try output?.finish()
  }

  private func report(_ outcome: SourceOutcome) -> TranscodeReport {
    if session.options.frames == .metadata { warnings += outcome.warnings }
    if let plan = director?.plan { warnings += plan.warnings }
    if plain.hasDrawn { warnings.append("what is transparent was drawn on the background") }
    return TranscodeReport(
      plan: plan, tally: tally, formats: output?.formats ?? [], files: output?.files ?? [],
      outcome: outcome,
      entries: director?.plan.entries ?? [],
      warnings: warnings, wall: started.secondsUntilNow)
  }
}

/// When an IDR is asked for: at the start of each segment, counted anew from every change of canvas.
struct KeyframeClock {
  private let interval: Double?
  private var last: (seconds: Double, canvas: PixelSize)?

  init(every interval: Double?) { self.interval = interval }

  mutating func isDue(at seconds: Double, canvas: PixelSize) -> Bool {
    guard let interval else { return false }
    // A new canvas has a new encoder, whose first picture is an IDR in any case.
    if let last, last.canvas == canvas, seconds - last.seconds < interval - 0.001 { return false }
    last = (seconds, canvas)
    return true
  }
}
