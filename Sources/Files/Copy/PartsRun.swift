internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Runs a transcode whose input is processed in parts, copied and encoded ones.
final class PartsRun {
  private let plan: SessionPlan
  private let input: InputParts
  private let output: PartsOutput
  private let exchange = PartExchange()
  /// The keyframe clock of each part.
  private let clocks: [KeyframeClock]

  init(
    _ plan: SessionPlan, _ input: InputParts, observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    self.plan = plan
    self.input = input
    clocks = input.keyframeClocks(FramePipeline.Setup(plan).keyframes)
    output = try PartsOutput(plan, input, PartFormats(plan, input), observe: observe)
  }

  /// Runs to the end and finishes the output.
  func run() throws(UprightError) -> TranscodeReport {
    output.reportPlan()
    let encoders = plan.codec.encodesInParallel ? input.concurrency : 1
    let reader = try PartReader(plan, input, exchange: exchange, encoders: encoders) {
      [self] part in
      PartEncoder(plan, input, part: part, clock: clocks[part], exchange: exchange)
    }
    let reading = WorkThread(name: "upright-read") { reader.run() }
    do throws(UprightError) {
      while let item = try exchange.take() {
        switch item {
        case .side(let box): if let packet = box.take() { try output.writeSide(packet) }
        case .frame(let box, let part): try output.writeFrame(box, part: part)
        }
      }
      guard let read = reading.join() else { throw UprightError(.fault, "no result of the reader") }
      return try output.finish(Self.outcome(read))
    } catch {
      // Wakes all waiting threads.
      exchange.close()
      for encoder in reading.join()?.encoders ?? [] { _ = encoder.join() }
      output.abandon()
      throw error
    }
  }

  /// Waits for the encoders and returns what they and the reader have done.
  static func outcome(_ read: PartReader.Outcome) throws(UprightError) -> PartsOutcome {
    var outcome = PartsOutcome(read)
    for encoder in read.encoders {
      guard let part = encoder.join() else { throw UprightError(.fault, "no result of an encoder") }
      outcome.add(part)
    }
    return outcome
  }
}
