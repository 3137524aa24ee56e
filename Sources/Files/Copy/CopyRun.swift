internal import UprightOrientation
internal import UprightSignals
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Runs a transcode whose frames are copied.
final class CopyRun {
  private let plan: SessionPlan
  private let inputSurvey: InputSurvey
  private let observe: (SessionUpdate) -> Void
  private let output: OutputStage
  private let decodingTimes: DecodingTimeGenerator
  /// The decoding times to use instead of the input's, in order; empty to keep them.
  private var repairedTimes: ArraySlice<Int64>
  private let format: EncodedFormat
  private var rewriter: DisplayOrientationRewriter?
  /// `nil` if parameter sets stay where they are.
  private let selfContained: SelfContainedHEVC?
  private var tally: FrameTally
  private var leading = LeadingFrames()
  /// The number of packets written.
  private var sent = 0
  private var warnings: [String]
  private let started = ContinuousClock.now

  init(
    _ plan: SessionPlan, _ copy: CopyPlan.Copy, observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    var plan = plan
    plan.mark = copy.mark
    // A frame that is held makes the container's average another rate, and Matroska gives each frame its duration by it.
    plan.video.frameRate = copy.inputSurvey.survey.frameRate(of: plan.video)
    self.plan = plan
    inputSurvey = copy.inputSurvey
    repairedTimes = (copy.decodingTimes ?? [])[...]
    self.observe = observe
    warnings = plan.warnings + copy.inputSurvey.warnings
    if inputSurvey.survey.hidden > 0 {
      warnings.append(PacketSurvey.warning(hidden: inputSurvey.survey.hidden))
    }
    warnings += inputSurvey.survey.leadingWarnings
    selfContained = try SelfContainedHEVC(
      plan.video, inputSurvey.survey.sets, hidesFrames: inputSurvey.survey.hidden > 0,
      container: plan.container)
    format = EncodedFormat(
      index: 0, size: plan.video.parameters.size,
      parameters: selfContained?.parameters ?? plan.video.parameters)
    rewriter = copy.mark.rewriter(for: plan.video)
    decodingTimes = DecodingTimeGenerator(
      timeBase: plan.video.timeBase, frameRate: plan.video.frameRate)
    tally = FrameTally(timeBase: plan.video.timeBase)
    output = try OutputStage(plan, mark: copy.mark)
  }

  /// Runs to the end and finishes the output.
  func run() throws(UprightError) -> TranscodeReport {
    for entry in inputSurvey.plan.entries { observe(.decision(entry)) }
    inputSurvey.logTurns(in: output.turns)
    for change in inputSurvey.formatChanges(plan, &tally) { observe(.format(change)) }
    var reader = PacketReader(plan.demuxer)
    plan.demuxer.select(Set(plan.sideTracks.map(\.stream.index)).union([plan.video.index]))
    do throws(UprightError) {
      while let packet = reader.next() { try process(packet) }
      try decodingTimes.finish { (packet) throws(UprightError) in try send(packet) }
      if tally.frames == 0 {
        throw reader.error ?? UprightError(.cancelled, "stopped", at: plan.request.input)
      }
      if let error = reader.error { throw error }
      if let warning = try plan.warning(of: plan.demuxer.losses) { warnings.append(warning) }
      try output.endTracks()
      try output.finish()
    } catch {
      output.abandon()
      throw error
    }
    var outcome = SourceOutcome()
    outcome.frames = tally.frames
    tally.copied = tally.frames
    return TranscodeReport(
      plan: plan, tally: tally, output: output, outcome: outcome,
      decisions: inputSurvey.plan.entries, warnings: warnings, wall: started.secondsUntilNow)
  }

  private func process(_ packet: consuming Packet) throws(UprightError) {
    guard packet.streamIndex == plan.video.index else { return try output.write(packet) }
    if leading.accepts(packet) { return }
    if let time = repairedTimes.popFirst() { packet.dts = time }
    if !packet.isDiscarded {
      if let time = inputSurvey.survey.repeats[tally.frames] { packet.pts = time }
      tally.frames += 1
      tally.end(pts: packet.pts, duration: packet.duration)
    }
    if tally.frames % 64 == 0 { reportProgress(packet.pts) }
    let isKey = packet.isKey
    let own = inputSurvey.variesWithFrames ? turn(at: packet.pts) : nil
    let changed = unsafe packet.withBytes { bytes in
      unsafe own.map { unsafe rewriter?.rewrite(bytes, stating: $0) }
        ?? rewriter?.rewrite(bytes, isKey: isKey)
    }
    var marked: Packet
    if let changed { marked = try packet.with(payload: changed) } else { marked = packet }
    let stripped = unsafe marked.withBytes { bytes in unsafe selfContained?.stripped(bytes) }
    if let stripped { marked = try marked.with(payload: stripped) }
    try decodingTimes.process(marked) { (packet) throws(UprightError) in try send(packet) }
  }

  private func send(_ packet: consuming Packet) throws(UprightError) {
    var format = sent == 0 ? format : nil
    if let parameters = selfContained?.changes[sent] {
      let size = plan.video.parameters.size
      format = EncodedFormat(index: sent, size: size, parameters: parameters)
    }
    sent += 1
    try output.writeFrame(packet, format: format)
  }

  /// Returns the turn of the frame at `pts`.
  private func turn(at pts: Int64?) -> ImageOrientation {
    let shown = inputSurvey.survey.shown
    let frame = min(shown.place(of: pts ?? shown[0]), shown.count - 1)
    return inputSurvey.stretch(of: frame).direction.turn
  }

  private func reportProgress(_ pts: Int64?) {
    let first = inputSurvey.survey.shown[0]
    let seconds = MediaTime((pts ?? first) - first, plan.video.timeBase).seconds
    observe(
      .progress(
        SessionProgress(
          frames: tally.frames, seconds: seconds, duration: plan.duration?.seconds,
          appOrientation: inputSurvey.plan.timeline.point(at: seconds).appOrientation.name,
          elapsed: started.secondsUntilNow)))
  }
}

extension InputSurvey {
  /// Returns the formats of a copy. The transform maps the whole stored frame to its upright position.
  func formatChanges(_ plan: SessionPlan, _ tally: inout FrameTally) -> [FormatChange] {
    let shape = plan.video.frameShape
    return stretches.compactMap { stretch in
      var direction = stretch.direction
      direction.moment = nil
      direction.canvas = direction.turn.applied(to: shape.shown)
      direction.format.encodeResolution = direction.canvas
      if plan.options.upright == .metadata { direction.format.captureResolution = direction.canvas }
      let placement = Placement(
        source: shape.stored, sampleAspectRatio: shape.sampleAspectRatio,
        orientation: direction.turn, fit: .fit, anchor: .center, canvas: direction.canvas,
        alignment: .init(1, 1))
      return tally.add(direction, placement, at: stretch.time, frame: stretch.firstFrame)
    }
  }
}
