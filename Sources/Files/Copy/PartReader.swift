internal import Dispatch
internal import UprightOrientation
internal import UprightSignals
internal import UprightMedia
internal import UprightMediaIO

/// Reads an input once from start to end on a separate thread, and passes each packet to its part: unchanged
/// if the part is copied, otherwise to the part's encoder. It can also read a single part.
///
/// Sendable by hand-over: it is made on one thread and run on another.
final class PartReader: @unchecked Sendable {
  /// The result of a run.
  struct Outcome: Sendable {
    var packets = 0
    var copied = 0
    var damaged = 0
    var error: UprightError?
    var isStopped = false
    /// The number of packets that an edit list hides.
    var hidden = 0
    /// The digests of the video packets, if they were requested.
    var digests: [UInt64] = []
    /// The encoders that were started and must be waited for.
    var encoders: [WorkThread<PartEncoder.Outcome>] = []
  }

  /// A part that is read alone.
  struct Single {
    let part: Int
    /// Whether reading starts near the part and not where the input is.
    let isSought: Bool
    /// The index of the first packet, in decoding order; `nil` for that of the part.
    var start: Int?
    /// The index after the last packet that is wanted, in decoding order; `nil` for that of the part.
    var end: Int?
  }

  private static let copiedLimit = 64

  private let plan: SessionPlan
  private let input: InputParts
  private let exchange: PartExchange
  private let makeEncoder: (Int) -> PartEncoder
  /// Limits the number of encoders that run in parallel.
  private let slots: DispatchSemaphore
  private var rewriter: DisplayOrientationRewriter?
  /// `nil` if packets need no conversion.
  private var form: BitstreamFilter?
  private var outcome = Outcome()
  /// The index of the part that is being read.
  private var part = 0
  /// The index of the next video packet.
  private var packet = 0
  private var encoder: PartEncoder?
  private var isOpen = true
  /// `nil` if the whole input is read.
  private let single: Single?
  /// Whether the first packet of a single part is still to be found.
  private var isSeeking = false
  /// The packets before the first one of a single part that an edit list hides, from a keyframe on.
  private var hidden: [PacketBox] = []
  private let digest: PacketDigest?

  /// - Parameters:
  ///   - encoders: How many encoders may run in parallel.
  ///   - single: The only part to read, without the packets of other tracks; `nil` for all.
  ///   - makeEncoder: Creates the encoder of a part.
  init(
    _ plan: SessionPlan, _ input: InputParts, exchange: PartExchange, encoders: Int,
    single: Single? = nil, makeEncoder: @escaping (Int) -> PartEncoder
  ) throws(UprightError) {
    self.plan = plan
    self.input = input
    self.exchange = exchange
    self.makeEncoder = makeEncoder
    self.single = single
    slots = DispatchSemaphore(value: max(1, encoders))
    rewriter = OrientationMetadata().rewriter(for: plan.video)
    digest = plan.digestsPackets ? try PacketDigest() : nil
    plan.demuxer.select(plan.streams(ofPart: single != nil))
  }

  /// Reads to the end, or until the exchange is closed.
  func run() -> Outcome {
    do throws(UprightError) {
      if let single { try seek(single) }
      var reader = PacketReader(plan.demuxer)
      try begin()
      while isOpen, let packet = reader.next() {
        if packet.streamIndex == plan.video.index {
          try process(packet)
        } else if single == nil {
          isOpen = exchange.put(packet)
        }
      }
      end()
      exchange.endReading(parts: part + 1)
      outcome.damaged = reader.damaged
      outcome.error = reader.error
      outcome.isStopped = reader.isStopped
    } catch {
      exchange.fail(error)
      end()
    }
    return outcome
  }

  /// Goes to the first packet of a part, with which decoding can start.
  private func seek(_ single: Single) throws(UprightError) {
    part = single.part
    let survey = input.inputSurvey.survey
    isSeeking = survey.leading > 0
    guard single.isSought, let demuxer = plan.demuxer as? Demuxer else { return }
    let isCut = single.start == nil || survey.hidden > 0
    let time = isCut ? survey.shown[first] : survey.times[first]
    guard demuxer.seek(stream: plan.video.index, to: time) else {
      throw PartReader.notFound(plan)
    }
    packet = first
    isSeeking = true
  }

  /// The index of the first packet of a single part. A part's has the same index in decoding and in presentation order.
  private var first: Int { single?.start ?? input.parts[part].frames.lowerBound }

  /// The error of a part whose first packet isn't where it was.
  static func notFound(_ plan: SessionPlan) -> UprightError {
    UprightError(
      .badData, "the input has changed since it was planned", at: plan.request.input,
      remedy: "plan it again")
  }

  private func process(_ packet: consuming Packet) throws(UprightError) {
    var packet = consume packet
    let parts = input.parts
    let last = single == nil ? parts.count - 1 : part
    if packet.isDiscarded {
      return single == nil ? try takeHidden(packet) : takeHiddenOfSingle(packet)
    }
    let survey = input.inputSurvey.survey
    if survey.leading > 0, packet.pts ?? .min < survey.shown[0] { return }
    // There may be more packets than in the survey if the file is still being written.
    guard self.packet < single?.end ?? parts[last].frames.upperBound else {
      if single != nil { isOpen = false }
      return
    }
    if isSeeking {
      let wanted = input.inputSurvey.survey.times[self.packet]
      guard packet.pts == wanted, packet.isKey || !hidden.isEmpty else {
        if packet.isKey, packet.pts ?? .min > wanted { throw PartReader.notFound(plan) }
        if packet.isKey { hidden = [] }
        return
      }
      isSeeking = false
    }
    defer { self.packet += 1 }
    if single == nil {
      try goOn()
    } else if self.packet < first {
      return
    }
    if let time = survey.repeats[self.packet] { packet.pts = time }
    outcome.packets += 1
    if let digest { outcome.digests.append(digest.of(packet)) }
    if let encoder {
      for box in hidden { if let packet = box.take() { _ = encoder.queue.put(packet) } }
      hidden = []
      _ = encoder.queue.put(packet)
      return
    }
    outcome.copied += 1
    let isKey = packet.isKey
    let unmarked = unsafe packet.withBytes { bytes in
      unsafe rewriter?.rewrite(bytes, isKey: isKey)
    }
    var copy: Packet
    if let unmarked { copy = try packet.with(payload: unmarked) } else { copy = packet }
    if let form {
      guard let formed = try form.filter(copy) else { return }
      copy = formed
    } else if isKey, let join = input.join {
      copy = try join.completed(copy)
    }
    copy.dts = input.decodingTimes[self.packet]
    copy.rescale(to: plan.videoTimeBase)
    // A single part may be read before anyone takes its packets.
    isOpen = exchange.put(copy, part: part, limit: single == nil ? Self.copiedLimit : .max)
  }

  /// Takes a packet that an edit list hides. It is only decoded: a keyframe for the next frame that is shown, others
  /// with those before them.
  private func takeHidden(_ packet: consuming Packet) throws(UprightError) {
    guard self.packet < input.parts[input.parts.count - 1].frames.upperBound else { return }
    outcome.hidden += 1
    if packet.isKey { try goOn() }
    if let encoder { _ = encoder.queue.put(packet) }
  }

  /// Takes a packet before the first one of a single part, or within it.
  private func takeHiddenOfSingle(_ packet: consuming Packet) {
    let frames = input.parts[part].frames
    guard frames.contains(self.packet) else { return }
    if self.packet > frames.lowerBound {
      if let encoder { _ = encoder.queue.put(packet) }
      return
    }
    // Others are the last ones of the part before.
    guard input.inputSurvey.survey.hidesFrames(in: frames.prefix(1)) else { return }
    if packet.isKey { hidden = [] }
    if packet.isKey || !hidden.isEmpty { hidden.append(PacketBox(packet, format: nil)) }
  }

  /// Goes to the part of the next packet.
  private func goOn() throws(UprightError) {
    while packet >= input.parts[part].frames.upperBound {
      end()
      part += 1
      try begin()
    }
  }

  private func begin() throws(UprightError) {
    guard !input.parts[part].isCopied else {
      // A part's packets don't depend on the parts before it.
      form = try input.join == nil ? nil : plan.inBandForm()
      return
    }
    // The encoder that this waits for has all its packets, so it will finish.
    slots.wait()
    let encoder = makeEncoder(part)
    self.encoder = encoder
    let slots = slots
    outcome.encoders.append(
      WorkThread(name: "upright-part") {
        defer { slots.signal() }
        return encoder.run()
      })
  }

  private func end() {
    if let encoder {
      encoder.queue.close()
      self.encoder = nil
    } else {
      exchange.end(part: part)
    }
  }
}

extension SessionPlan {
  /// Returns the streams whose packets must be read.
  ///
  /// - Parameter isPart: Whether only the video is wanted. Clock resets are detected from the packets of all
  ///   tracks, so an input that may have some is read with them.
  func streams(ofPart isPart: Bool) -> Set<Int> {
    let joinsClocks = (demuxer as? Demuxer)?.joinsClocks == true
    return Set(isPart && !joinsClocks ? [] : sideTracks.map(\.stream.index)).union([video.index])
  }

  /// Returns the filter that converts copied and encoded packets to the MPEG-TS form, with parameter sets in
  /// band; `nil` if no conversion is needed.
  ///
  /// The muxer has one such filter for the whole track. Once it has seen the sets of an encoder, it no longer
  /// inserts the source's, and those of the header are for one size only. So each part has a separate filter.
  func inBandForm() throws(UprightError) -> BitstreamFilter? {
    // A configuration record begins with its version, 1 (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
    guard container.muxer == "mpegts", video.parameters.extradata.first == 1,
      ["h264", "hevc"].contains(video.codecName)
    else { return nil }
    return try BitstreamFilter("\(video.codecName)_mp4toannexb", for: video)
  }
}
