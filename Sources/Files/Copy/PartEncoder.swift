internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Decodes, lays out and encodes one part of an input on a separate thread.
///
/// Sendable by hand-over: it is made on one thread and run on another. Only the queue and the exchange are
/// shared between threads.
final class PartEncoder: @unchecked Sendable {
  /// The result of a run.
  struct Outcome: Sendable {
    var tally: FrameTally
    var frames = 0
    /// The number of those frames that belong to no frame of the part.
    var misplacedFrames = 0
    var damagedPackets = 0
    var damagedFrames = 0
    var interlacedFrames = 0
    var droppedMetadata: Set<String> = []
    var warnings: [String] = []
    /// The time spent in decoding, in seconds.
    var seconds = 0.0
  }

  /// The packets of the part, in decoding order. Closed at its end. If parts are encoded in parallel, it holds all
  /// of them, so that the reader goes on to the next part.
  let queue: BoundedQueue<Packet>

  private let plan: SessionPlan
  private let input: InputParts
  private let index: Int
  /// The indexes of the frames that are encoded. Those before them are only decoded.
  private let wanted: Range<Int>
  private let exchange: PartExchange
  private let pipeline: FramePipeline
  /// Created with the first packet; `nil` if packets need no conversion.
  private lazy var form = Result { () throws(UprightError) in try plan.inBandForm() }
  private var outcome: Outcome
  /// The index of the next frame in presentation order.
  private var frame: Int
  /// The number of packets encoded.
  private var packets = 0

  /// - Parameters:
  ///   - frames: The frames to encode; `nil` for all of the part.
  ///   - clock: The part's keyframe clock.
  init(
    _ plan: SessionPlan, _ input: InputParts, part index: Int, frames: Range<Int>? = nil,
    clock: KeyframeClock, exchange: PartExchange
  ) {
    self.plan = plan
    self.input = input
    self.index = index
    self.exchange = exchange
    let whole = input.parts[index].frames
    wanted = frames ?? whole
    let count = whole.count
    queue = BoundedQueue(
      capacity: input.concurrency > 1 ? min(max(16, count), Self.maxPackets) : 16)
    var clock = clock
    input.advance(&clock, over: whole.lowerBound..<wanted.lowerBound)
    pipeline = FramePipeline(plan, input.setup(plan, from: wanted.lowerBound, clock: clock))
    outcome = Outcome(tally: FrameTally(timeBase: plan.videoTimeBase))
    // Some frames may be decoded from a place before the part on.
    frame = frames == nil ? whole.lowerBound : 0
  }

  /// How many packets may wait for earlier parts: all packets of a part of a minute.
  private var limit: Int { min(max(64, input.parts[index].frames.count), Self.maxPackets) }

  private static let maxPackets = 4096

  /// Runs to the end of the queue, or until the exchange is closed.
  func run() -> Outcome {
    do throws(UprightError) {
      try work()
      exchange.end(part: index)
    } catch {
      exchange.fail(error)
    }
    // Release the reader, which may be waiting to add packets.
    queue.close()
    outcome.tally = pipeline.tally
    outcome.warnings = pipeline.warnings
    outcome.droppedMetadata.formUnion(pipeline.losses)
    return outcome
  }

  private func work() throws(UprightError) {
    let decoder = try VideoDecoder(stream: plan.video, threads: input.threads(plan))
    let start = input.inputSurvey.survey.shown[max(0, wanted.lowerBound - input.neighbours)]
    while let packet = queue.take() {
      if packet.startsAnew {
        decoder.finish()
        try deliver(decoder)
        decoder.flush()
      }
      decoder.skipsUnreferenced = packet.pts.map { $0 < start } ?? false
      while true {
        let isTaken = timed { decoder.send(packet) }
        try deliver(decoder)
        if isTaken { break }
      }
    }
    decoder.finish()
    try deliver(decoder)
    outcome.damagedPackets = decoder.damagedPackets
    try pipeline.finish(emit: emit)
  }

  private func deliver(_ decoder: VideoDecoder) throws(UprightError) {
    while var decoded = try timed({ () throws(UprightError) in try decoder.receive() }) {
      outcome.frames += 1
      if decoded.isDamaged { outcome.damagedFrames += 1 }
      if decoded.isInterlaced { outcome.interlacedFrames += 1 }
      outcome.droppedMetadata.formUnion(decoded.dynamicMetadata)
      guard place(&decoded) else {
        outcome.misplacedFrames += 1
        continue
      }
      defer { frame += 1 }
      if frame < wanted.lowerBound - input.neighbours { continue }
      try pipeline.process(
        decoded, input.inputSurvey.stretch(of: frame).direction, input.inputSurvey.time(of: frame),
        isShown: wanted.contains(frame), emit: emit)
    }
  }

  /// Finds the index of the frame by its timestamp; the index never goes back. Returns `false` if the frame
  /// is after the last one that is wanted.
  private func place(_ decoded: inout VideoFrame) -> Bool {
    let shown = input.inputSurvey.survey.shown
    frame = max(frame, decoded.pts.map { shown.place(of: $0) } ?? frame)
    guard frame < min(wanted.upperBound + input.neighbours, shown.count) else { return false }
    decoded.pts = shown[frame]
    if decoded.duration <= 0 {
      let usual = frame > 0 ? shown[frame] - shown[frame - 1] : 1
      decoded.duration = frame + 1 < shown.count ? shown[frame + 1] - shown[frame] : usual
    }
    return true
  }

  private func emit(_ packet: consuming Packet, _ format: EncodedFormat?) throws(UprightError) {
    var packet = consume packet
    if let join = input.join {
      // The frames are reordered no further than in the source, so they fit its decoding times.
      let place = wanted.lowerBound + packets
      let tick = plan.video.timeBase
      let time = input.decodingTimes[place].rescaled(from: tick, to: packet.timeBase)
      packet.dts = packet.pts.map { min($0, time) } ?? time
      packet = try join.adapted(packet)
      if let form = try form.get() {
        guard let formed = try form.filter(packet) else { return }
        packet = formed
      }
    }
    packets += 1
    guard exchange.put(packet, format: format, part: index, limit: limit) else {
      throw UprightError(.cancelled, "stopped", at: plan.request.input)
    }
  }

  private func timed<R: ~Copyable, E>(_ body: () throws(E) -> R) throws(E) -> R {
    let start = ContinuousClock.now
    defer { outcome.seconds += start.secondsUntilNow }
    return try body()
  }
}
