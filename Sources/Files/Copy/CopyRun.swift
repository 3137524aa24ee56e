internal import Orientation
internal import OrientationSignals
internal import RotationPolicy
internal import UprightContainers
internal import UprightEncoding
internal import UprightIntake
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// Runs a transcode whose frames are copied.
final class CopyRun {
  private let plan: SessionPlan
  private let outlook: Outlook
  private let observe: (SessionUpdate) -> Void
  private let output: OutputStage
  private let decodingTimes: DecodingTimeFill
  private let format: EncodedFormat
  private var rewriter: DisplayOrientationRewriter?
  private var tally: SessionTally
  private var leading = LeadingPictures()
  private var isBegun = false
  private var warnings: [String]
  private let started = ContinuousClock.now

  init(
    _ plan: SessionPlan, _ copy: CopyPlan.Copy, observe: @escaping (SessionUpdate) -> Void
  ) throws(MediaError) {
    self.plan = plan
    outlook = copy.outlook
    self.observe = observe
    warnings = plan.warnings + copy.outlook.warnings
    if outlook.survey.hidden > 0 {
      warnings.append("\(outlook.survey.hidden) frames stay hidden by the edit list")
    }
    if outlook.survey.leading > 0 {
      warnings.append(
        "\(outlook.survey.leading) frames that refer to frames before the input are left out")
    }
    format = EncodedFormat(
      index: 0, size: plan.video.parameters.size, parameters: plan.video.parameters)
    rewriter = copy.mark.rewriter(for: plan.video)
    decodingTimes = DecodingTimeFill(
      timeBase: plan.video.timeBase, frameRate: plan.video.frameRate)
    tally = SessionTally(timeBase: plan.video.timeBase)
    output = try OutputStage(plan, mark: copy.mark)
  }

  /// Runs to the end and finishes the output.
  func run() throws(MediaError) -> TranscodeReport {
    for entry in outlook.plan.entries { observe(.decision(entry)) }
    tellFormats()
    var feed = PacketFeed(plan.demuxer)
    plan.demuxer.select(Set(plan.sideTracks.map(\.stream.index)).union([plan.video.index]))
    do throws(MediaError) {
      while let packet = feed.next() { try take(packet) }
      try decodingTimes.finish { (packet) throws(MediaError) in try send(packet) }
      if tally.frames == 0 {
        throw feed.error ?? MediaError(.cancelled, "stopped", at: plan.request.input)
      }
      if let error = feed.error { throw error }
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
      plan: plan, tally: tally, formats: output.formats, files: output.files, outcome: outcome,
      entries: outlook.plan.entries, warnings: warnings, wall: started.secondsUntilNow)
  }

  /// Reports the formats. The transform maps the whole stored frame to its upright position.
  private func tellFormats() {
    let size = plan.video.parameters.size
    for stretch in outlook.stretches {
      var direction = stretch.direction
      direction.moment = nil
      direction.canvas = direction.turn.applied(to: size)
      direction.format.encodeResolution = direction.canvas
      if plan.options.upright == .metadata { direction.format.captureResolution = direction.canvas }
      let placement = Placement(
        source: size, sampleAspectRatio: .one, orientation: direction.turn, fit: .fit,
        anchor: .center, canvas: direction.canvas, alignment: .init(1, 1))
      let change = tally.note(
        direction, placement, at: stretch.seconds, frame: stretch.firstFrame)
      if let change { observe(.format(change)) }
    }
  }

  private func take(_ packet: consuming Packet) throws(MediaError) {
    guard packet.streamIndex == plan.video.index else { return try output.take(packet) }
    if leading.takes(packet) { return }
    if !packet.isDiscarded {
      tally.frames += 1
      tally.end(pts: packet.pts, duration: packet.duration)
    }
    if tally.frames % 64 == 0 { tellProgress(packet.pts) }
    let isKey = packet.isKey
    let own = outlook.variesWithPictures ? turn(at: packet.pts) : nil
    let changed = unsafe packet.withBytes { bytes in
      unsafe own.map { unsafe rewriter?.rewrite(bytes, stating: $0) }
        ?? rewriter?.rewrite(bytes, isKey: isKey)
    }
    let marked: Packet
    if let changed { marked = try packet.with(payload: changed) } else { marked = packet }
    try decodingTimes.take(marked) { (packet) throws(MediaError) in try send(packet) }
  }

  private func send(_ packet: consuming Packet) throws(MediaError) {
    let first = isBegun ? nil : format
    isBegun = true
    try output.takePicture(packet, format: first)
  }

  /// Returns the turn of the frame at `pts`.
  private func turn(at pts: Int64?) -> ImageOrientation {
    let shown = outlook.survey.shown
    let frame = min(shown.place(of: pts ?? shown[0]), shown.count - 1)
    return outlook.stretch(of: frame).direction.turn
  }

  private func tellProgress(_ pts: Int64?) {
    let origin = outlook.survey.shown[0]
    let seconds = Double((pts ?? origin) - origin) * plan.video.timeBase.doubleValue
    observe(
      .progress(
        SessionProgress(
          frames: tally.frames, seconds: seconds, duration: plan.duration,
          appOrientation: outlook.plan.timeline.point(at: seconds).appOrientation.name,
          elapsed: started.secondsUntilNow)))
  }
}
