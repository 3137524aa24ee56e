internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightEncoding
internal import UprightFrames
internal import UprightIntake
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// Runs a transcode whose input is processed in parts, copied and encoded ones.
final class PartsRun {
  private let plan: SessionPlan
  private let input: InputParts
  private let observe: (SessionUpdate) -> Void
  private let output: OutputStage
  private let exchange = PartExchange()
  private var formats: PartFormats
  /// The keyframe clock of each part.
  private let clocks: [KeyframeClock]
  /// The decoding times of encoded frames if no frames are copied: each encoder counts from its first frame.
  private var decodingTimes = DecodingTimestamps()
  private var tally: SessionTally
  private var latest = MediaTime.zero
  private var lastProgress = ContinuousClock.now
  private var warnings: [String]
  private let started = ContinuousClock.now

  init(
    _ plan: SessionPlan, _ input: InputParts, observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    self.plan = plan
    self.input = input
    self.observe = observe
    warnings = plan.warnings + input.inputSurvey.warnings
    tally = SessionTally(timeBase: plan.videoTimeBase)
    formats = try PartFormats(plan, input)
    clocks = input.keyframeClocks(FramePipeline.Setup(plan).keyframes)
    let longest = input.parts.map(input.duration).max() ?? .zero
    output = try OutputStage(
      plan, mark: input.join == nil ? nil : OrientationMetadata(),
      ahead: longest * (input.concurrency - 1))
  }

  /// Runs to the end and finishes the output.
  func run() throws(UprightError) -> TranscodeReport {
    for entry in input.inputSurvey.plan.entries { observe(.decision(entry)) }
    reportFormats()
    let reader = try PartReader(plan, input, exchange: exchange, encoders: input.concurrency) {
      [self] part in
      PartEncoder(
        plan, input, part: part, setup: setup(part), decodingThreads: threads, exchange: exchange)
    }
    let reading = WorkThread(name: "upright-read") { reader.run() }
    do throws(UprightError) {
      while let item = try exchange.take() { try write(item) }
      let outcome = try gathered(reading)
      if let warning = try plan.readingLosses(outcome, frames: tally.frames) {
        warnings.append(warning)
      }
      try output.endTracks()
      reportProgress()
      try output.finish()
      return TranscodeReport(
        plan: plan, tally: tally, formats: output.formats, files: output.files, outcome: outcome,
        decisions: input.inputSurvey.plan.entries, warnings: warnings, wall: started.secondsUntilNow
      )
    } catch {
      // Wakes all waiting threads.
      exchange.close()
      for encoder in reading.join()?.encoders ?? [] { _ = encoder.join() }
      output.abandon()
      throw error
    }
  }

  private func setup(_ part: Int) -> FramePipeline.Setup {
    var setup = FramePipeline.Setup(plan)
    setup.codec = input.codec
    setup.keyframes = clocks[part]
    let (join, threads) = (input.join, threads)
    setup.adapt = { wanted in
      var settings = join?.settings(wanted) ?? wanted
      settings.threads = threads
      return settings
    }
    let canvas = input.canvas(at: input.parts[part].frames.lowerBound)
    let isShared = join != nil && canvas.size == plan.video.parameters.size
    setup.canvas = isShared ? (canvas.size, .up) : canvas
    return setup
  }

  /// The number of threads of a decoder or an encoder; 0 lets it choose.
  private var threads: Int {
    if plan.options.threads > 0 || input.concurrency == 1 { return plan.options.threads }
    return max(1, ProcessInfo.processInfo.activeProcessorCount / input.concurrency)
  }

  // MARK: - Packets

  private func write(_ item: PartExchange.Item) throws(UprightError) {
    switch item {
    case .side(let box):
      if let packet = box.take() { try output.take(packet) }
    case .frame(let box, let part):
      guard var packet = box.take() else { return }
      if input.join == nil { decodingTimes.fit(&packet) }
      let format =
        input.parts[part].isCopied ? formats.ofCopied() : try formats.ofEncoded(box.format)
      tally.frames += 1
      tally.end(pts: packet.pts, duration: packet.duration)
      if let pts = packet.pts {
        let origin = MediaTime(input.inputSurvey.survey.shown[0], plan.video.timeBase)
        latest = max(latest, MediaTime(pts, packet.timeBase) - origin)
      }
      try output.takeFrame(packet, format: format)
      if lastProgress.secondsUntilNow > 0.1 { reportProgress() }
    }
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

  private func reportFormats() {
    let (options, video) = (plan.options, plan.video)
    for stretch in input.inputSurvey.stretches {
      let direction = stretch.direction
      let placement = Placement(
        source: video.parameters.size, sampleAspectRatio: video.sampleAspectRatio,
        orientation: direction.turn, fit: options.fit(on: plan.canvas), anchor: options.anchor,
        canvas: direction.canvas, alignment: formats.alignment)
      let change = tally.note(
        direction, placement, at: stretch.time, frame: stretch.firstFrame)
      if let change { observe(.format(change)) }
    }
  }

  // MARK: - Results

  private func gathered(
    _ reading: WorkThread<PartReader.Outcome>
  ) throws(UprightError) -> SourceOutcome {
    guard let read = reading.join() else { throw UprightError(.fault, "no result of the reader") }
    var outcome = SourceOutcome()
    outcome.error = read.error
    outcome.isStopped = read.isStopped
    outcome.videoPackets = read.packets
    outcome.frames = read.copied
    outcome.damagedPackets = read.damaged
    tally.copied = read.copied
    for encoder in read.encoders {
      guard let part = encoder.join() else { throw UprightError(.fault, "no result of an encoder") }
      outcome.frames += part.frames
      outcome.damagedPackets += part.damagedPackets
      outcome.damagedFrames += part.damagedFrames
      outcome.interlacedFrames += part.interlacedFrames
      outcome.droppedMetadata.formUnion(part.droppedMetadata)
      outcome.seconds += part.seconds
      tally.orientSeconds += part.tally.orientSeconds
      tally.encodeSeconds += part.tally.encodeSeconds
      for warning in part.warnings where !warnings.contains(warning) { warnings.append(warning) }
    }
    return outcome
  }
}
