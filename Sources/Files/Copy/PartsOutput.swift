internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// What reading, decoding and encoding parts came to.
struct PartsOutcome: Sendable {
  var source = SourceOutcome()
  /// The number of frames that were copied.
  var copied = 0
  /// The number of audio and subtitle packets that could not be decoded.
  var damagedSidePackets = 0
  var orientSeconds = 0.0
  var encodeSeconds = 0.0
  var warnings: [String] = []

  init() {}

  init(_ read: PartReader.Outcome) {
    source.error = read.error
    source.isStopped = read.isStopped
    source.videoPackets = read.packets + read.hidden
    source.discardedPackets = read.hidden
    source.frames = read.copied
    source.damagedPackets = read.damaged
    copied = read.copied
  }

  /// Adds what another process has done.
  mutating func add(_ other: PartsOutcome) {
    source.videoPackets += other.source.videoPackets
    source.frames += other.source.frames
    source.damagedPackets += other.source.damagedPackets
    source.damagedFrames += other.source.damagedFrames
    source.misplacedFrames += other.source.misplacedFrames
    source.interlacedFrames += other.source.interlacedFrames
    source.droppedMetadata.formUnion(other.source.droppedMetadata)
    source.seconds += other.source.seconds
    copied += other.copied
    damagedSidePackets += other.damagedSidePackets
    orientSeconds += other.orientSeconds
    encodeSeconds += other.encodeSeconds
    add(other.warnings)
  }

  private mutating func add(_ texts: [String]) {
    for warning in texts where !warnings.contains(warning) { warnings.append(warning) }
  }

  mutating func add(_ part: PartEncoder.Outcome) {
    source.frames += part.frames
    source.damagedPackets += part.damagedPackets
    source.damagedFrames += part.damagedFrames
    source.misplacedFrames += part.misplacedFrames
    source.interlacedFrames += part.interlacedFrames
    source.droppedMetadata.formUnion(part.droppedMetadata)
    source.seconds += part.seconds
    orientSeconds += part.tally.orientSeconds
    encodeSeconds += part.tally.encodeSeconds
    add(part.warnings)
  }
}

/// Writes the packets of parts, in order, to the output of a session.
final class PartsOutput {
  private let plan: SessionPlan
  private let input: InputParts
  private let observe: (SessionUpdate) -> Void
  private let output: OutputStage
  private var formats: PartFormats
  /// The decoding times of encoded frames if no frames are copied: each encoder counts from its first frame.
  private var decodingTimes = DecodingTimestamps()
  private var tally: FrameTally
  private var latest = MediaTime.zero
  private var lastProgress = ContinuousClock.now
  private let started = ContinuousClock.now

  init(
    _ plan: SessionPlan, _ input: InputParts, _ formats: PartFormats,
    observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    self.plan = plan
    self.input = input
    self.formats = formats
    self.observe = observe
    tally = FrameTally(timeBase: plan.videoTimeBase)
    let longest = input.parts.map(input.duration).max() ?? .zero
    output = try OutputStage(
      plan, mark: input.join == nil ? nil : OrientationMetadata(),
      ahead: longest * input.concurrency)
  }

  /// Reports the decisions and the formats, which are known before the first packet.
  func reportPlan() {
    for entry in input.inputSurvey.plan.entries { observe(.decision(entry)) }
    input.inputSurvey.logTurns(in: output.turns)
    let (options, video) = (plan.options, plan.video)
    for stretch in input.inputSurvey.stretches {
      let direction = stretch.direction
      let placement = Placement(
        source: video.frameShape.stored, sampleAspectRatio: video.sampleAspectRatio,
        orientation: direction.turn, fit: options.fit(on: plan.canvas), anchor: options.anchor,
        canvas: direction.canvas, alignment: formats.alignment)
      let change = tally.add(
        direction, placement, at: stretch.time, frame: stretch.firstFrame)
      if let change { observe(.format(change)) }
    }
  }

  /// Writes the next video packet.
  func writeFrame(_ box: PacketBox, part: Int) throws(UprightError) {
    guard var packet = box.take() else { return }
    if input.join == nil { decodingTimes.fit(&packet) }
    let format =
      input.parts[part].isCopied ? formats.ofCopied() : try formats.ofEncoded(box.format)
    tally.frames += 1
    tally.end(pts: packet.pts, duration: packet.duration)
    if let pts = packet.pts {
      let first = MediaTime(input.inputSurvey.survey.shown[0], plan.video.timeBase)
      latest = max(latest, MediaTime(pts, packet.timeBase) - first)
    }
    try output.writeFrame(packet, format: format)
    if lastProgress.secondsUntilNow > 0.1 { reportProgress() }
  }

  /// Writes a packet of another track, as it was read.
  func writeSide(_ packet: consuming Packet) throws(UprightError) { try output.write(packet) }

  /// Writes a packet that the writer of another track has made already.
  func writeConverted(_ packet: consuming Packet, track: Int) throws(UprightError) {
    try output.writeConverted(packet, track: track)
  }

  private func reportProgress() {
    lastProgress = .now
    let seconds = latest.seconds
    observe(
      .progress(
        SessionProgress(
          frames: tally.frames, seconds: seconds, duration: plan.duration?.seconds,
          appOrientation: input.inputSurvey.plan.timeline.point(at: seconds).appOrientation.name,
          elapsed: started.secondsUntilNow)))
  }

  /// Finishes the output.
  ///
  /// - Parameter areWritten: Whether the packets of the other tracks came by `writeConverted`.
  func finish(
    _ outcome: PartsOutcome, areWritten: Bool = false
  ) throws(UprightError) -> TranscodeReport {
    tally.copied = outcome.copied
    tally.orientSeconds = outcome.orientSeconds
    tally.encodeSeconds = outcome.encodeSeconds
    var warnings = plan.warnings + input.inputSurvey.warnings
    warnings += outcome.warnings.filter { !warnings.contains($0) }
    let damagedSide = areWritten ? outcome.damagedSidePackets : plan.damagedSidePackets
    if let warning = try plan.readingLosses(
      outcome.source, frames: tally.frames, damagedSide: damagedSide)
    {
      warnings.append(warning)
    }
    try output.endTracks(areWritten: areWritten)
    reportProgress()
    try output.finish()
    return TranscodeReport(
      plan: plan, tally: tally, output: output, outcome: outcome.source,
      decisions: input.inputSurvey.plan.entries, warnings: warnings,
      wall: started.secondsUntilNow)
  }

  /// Removes unfinished output.
  func abandon() { output.abandon() }
}
