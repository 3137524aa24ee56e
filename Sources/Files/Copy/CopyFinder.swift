internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Decides which parts of an input can be copied. Cheap checks come first.
struct CopyFinder {
  private let plan: SessionPlan
  private let isByMetadata: Bool

  init(_ plan: SessionPlan) {
    self.plan = plan
    isByMetadata = plan.options.upright == .metadata
  }

  func decide() throws(UprightError) -> CopyPlan {
    var seen: InputSurvey?
    do {
      if let reason = reasonFromOptions ?? reasonFromContainer {
        throw CopyRefusal(reason: reason)
      }
      try checkSizes()
      let inputSurvey = try InputSurvey(plan)
      seen = inputSurvey
      if !isByMetadata, inputSurvey.survey.stepsBack {
        throw CopyRefusal(reason: PacketSurvey.isOutOfOrder)
      }
      let survey = inputSurvey.survey
      if let rate = plan.constantRate, !inputSurvey.isConstant(rate) {
        throw CopyRefusal(reason: "the frames don't have a constant rate")
      }
      let hides = survey.hidden > 0 && !(survey.hidesAtStart && keepsEdits)
      if isByMetadata, hides { throw CopyRefusal(reason: PacketSurvey.hides) }
      let turned = isByMetadata ? nil : inputSurvey.stretches.lazy.compactMap(reason).first
      guard let reason = turned ?? (hides ? PacketSurvey.hides : nil) else {
        if let reason = reasonOfLength(inputSurvey) { throw CopyRefusal(reason: reason) }
        let isRepaired = survey.hidden == 0 && survey.hasLateDecodingTimes
        return CopyPlan(
          method: .copy(
            .init(
              mark: try mark(inputSurvey), inputSurvey: inputSurvey,
              decodingTimes: isRepaired ? try survey.decodingTimes() : nil)),
          reason: isByMetadata
            ? "the turn is written as metadata" : CopyPlan.reasonToCopy)
      }
      if plan.options.reencode == .never { throw CopyRefusal(reason: reason) }
      if survey.leading > 0, !plan.request.makesSegments {
        throw CopyRefusal(reason: "\(reason); the input begins within a GOP")
      }
      return CopyPlan(method: .parts(try joined(inputSurvey, reason)), reason: reason)
    } catch let refusal as CopyRefusal {
      return CopyPlan(method: .encode, reason: refusal.reason, inputSurvey: seen)
    } catch let error as UprightError {
      throw error
    } catch {
      throw UprightError(.fault, "\(error)")
    }
  }

  /// Returns why players would wait for a segment that is copied; `nil` if they wouldn't.
  private func reasonOfLength(_ inputSurvey: InputSurvey) -> String? {
    guard plan.request.makesSegments else { return nil }
    let survey = inputSurvey.survey
    let cuts = survey.cuts() + [survey.shown.count]
    for (start, end) in zip(cuts, cuts.dropFirst()) {
      let duration = inputSurvey.time(of: end - 1) - inputSurvey.time(of: start)
      let bytes = survey.sizes[start..<end].reduce(0) { $0 + Int($1) }
      if duration > Self.longSegment.duration, bytes > Self.longSegment.bytes {
        return "no closed GOP begins for \(duration.seconds.rounded(toPlaces: 1)) s"
      }
    }
    return nil
  }

  /// A copied segment exceeds one of them at most.
  private static let longSegment = (duration: MediaTime(20, .one), bytes: 4 << 20)

  /// Whether the output has edit lists.
  private var keepsEdits: Bool { [.mp4, .mov].contains(plan.container) }

  private var reasonFromOptions: String? {
    let options = plan.options
    let isNamed: (Bool, String) -> String? = { $0 ? "\($1) needs an encoder" : nil }
    let hasRate = if case .constantQuality(nil) = options.rate { false } else { true }
    if let codec = options.codec, codec.rawValue != plan.video.codecName {
      return "the input is \(plan.video.codecLabel), --codec is \(codec.rawValue)"
    }
    if let destination = options.destination,
      !destination.codecs.contains(where: { $0.rawValue == plan.video.codecName })
    {
      return "the input is \(plan.video.codecLabel), which is not for \(destination.rawValue)"
    }
    if plan.video.editing == .rate { return "an edit list holds frames or changes their speed" }
    if !options.overlays.isEmpty { return "overlays are drawn into the frames" }
    if options.levels { return "--level turns by any angle" }
    if options.splits { return "--split starts a new encoder for each file" }
    if options.start != nil || options.end != nil {
      return "--start and --to cut between entry points"
    }
    if options.copiesWhatFits && !options.isLive { return nil }
    return isNamed(hasRate, "--crf, --bitrate or a preset of --size")
      ?? isNamed(options.speed != nil, "--speed") ?? isNamed(options.encoder != nil, "--encoder")
      ?? isNamed(options.gop != nil, "--gop")
      ?? isNamed(options.isLive, "--latency live")
      ?? isNamed(!options.encoderOptions.isEmpty, "--encoder-options")
  }

  private var reasonFromContainer: String? {
    let (video, container) = (plan.video, plan.container)
    if let reason = Self.reasonAgainstLookingAhead(plan) { return reason }
    // The copy would show what was cropped.
    if video.frameShape.stored != video.parameters.size { return "the container crops the frames" }
    switch container {
    case .y4m: return "y4m stores uncompressed frames"
    case .hls, .hlsTS:
      if !plan.request.makesSegments {
        return "segments begin at keyframes that the encoder must make"
      }
    default: break
    }
    // Only these have a ratio of their own, which comes before the bitstream's.
    let own = video.parameters.sampleAspectRatio ?? .one
    if own != video.sampleAspectRatio, ![.mp4, .mov, .matroska].contains(container) {
      return "the bitstream has the pixels \(own), and the container \(video.sampleAspectRatio)"
    }
    let known = VideoCodec(rawValue: video.codecName)
    // libavformat writes codecs into fragments that no player of HLS has.
    let isHLS = container == .hls || container == .hlsTS
    let isTaken =
      known.map { container.canCarry($0) }
      ?? (!isHLS && Muxer.canCopy(video, format: container.muxer))
    guard isTaken, container != .webm || ["vp8", "vp9", "av1"].contains(video.codecName) else {
      return "\(container.rawValue) cannot carry \(video.codecLabel)"
    }
    if container.isStreaming && !isByMetadata, let format = video.parameters.pixelFormat,
      format != .yuv420p
    {
      return "streams use yuv420p, the input is \(format)"
    }
    return nil
  }

  /// Returns why an input can't be analysed before it is decoded; `nil` if it can.
  static func reasonAgainstLookingAhead(_ plan: SessionPlan) -> String? {
    if case .standardInput = plan.request.events {
      return "events from standard input are not known in advance"
    }
    guard plan.demuxer is Demuxer else { return "an RTP recording has no decoding times" }
    if ["h264", "hevc", "m4v", "mpegvideo", "obu"].contains(plan.demuxer.container.format) {
      return "an elementary stream has no timestamps"
    }
    return plan.demuxer.container.isSeekable ? nil : "the input is not seekable"
  }

  // MARK: - The input

  /// Compares sizes first: most inputs that must be re-encoded need it throughout, because of their size.
  private func checkSizes() throws {
    if isByMetadata { return }
    let video = plan.video
    let shape = video.frameShape
    let size = shape.stored
    if video.sampleAspectRatio != .one {
      throw CopyRefusal(reason: "the pixels are \(video.sampleAspectRatio), not square")
    }
    if shape.shown != size {
      throw CopyRefusal(reason: "the frames are \(size) and shown in \(shape.shown)")
    }
    let guidance = try plan.guidance(first: shape)
    var shapes: [InterfaceOrientation] = [.portrait, .landscapeRight]
    if case .fixed(let isLandscape) = plan.canvas { shapes = [shapes[isLandscape ? 1 : 0]] }
    let canvases = shapes.map { guidance.format(for: $0).encodeResolution }
    if canvases.contains(size) { return }
    var director = try plan.request.director(size: size, guidance: guidance, canvas: plan.canvas)
    let signal = plan.options.frames.isSignalled ? try firstSignal() : nil
    let direction = try director.direct(at: 0, size: size, signal: signal?.turn)
    let first = InputSurvey.Stretch(
      firstFrame: 0, time: .zero, direction: direction, size: size)
    throw CopyRefusal(reason: reason(first) ?? "the canvas is \(canvases[0])")
  }

  /// Returns the signal of the first frame.
  private func firstSignal() throws -> OrientationSignal? {
    if case .success(let survey)? = plan.survey { return survey.changes.first?.signal }
    var scan = try SignalScan(
      plan.demuxer.reopened(format: plan.request.inputFormat), gravity: plan.request.gravityUse)
    return try scan.next()?.signal
  }

  /// Returns why frames in this stretch need new pixels; `nil` if they don't.
  private func reason(_ stretch: InputSurvey.Stretch) -> String? {
    let (direction, size) = (stretch.direction, plan.video.parameters.size)
    let at = "at \(stretch.time.seconds.rounded(toPlaces: 3)) s"
    guard stretch.size == plan.video.frameShape.stored else {
      return "\(at) the frame size changes to \(stretch.size)"
    }
    if direction.turn != .up { return "\(at) the frame must be turned: \(direction.turn.name)" }
    if direction.moment != nil { return "\(at) a turn is animated" }
    if !direction.isCaptureEnabled { return "\(at) the camera is off" }
    if direction.canvas != size {
      return "\(at) the frame is \(size) and the canvas \(direction.canvas)"
    }
    return nil
  }

  /// Returns the GOPs that are copied and those that are encoded.
  ///
  /// - Parameter first: Why not all frames can be copied.
  private func joined(_ inputSurvey: InputSurvey, _ first: String) throws -> InputParts {
    guard let codec = VideoCodec(rawValue: plan.video.codecName) else {
      throw CopyRefusal(reason: "\(first); Upright cannot encode \(plan.video.codecLabel)")
    }
    guard inputSurvey.survey.isInOrder else {
      throw CopyRefusal(reason: "\(first); \(PacketSurvey.isOutOfOrder)")
    }
    if let encoder = plan.options.encoder, encoder.isHardware {
      throw CopyRefusal(reason: "\(first); frames of \(encoder.name) can't follow copied ones")
    }
    let parts = InputParts.parts(inputSurvey, reason: reason)
    guard parts.contains(where: \.isCopied) else {
      let hasEntries = inputSurvey.survey.cuts().count > 1
      throw CopyRefusal(
        reason: hasEntries ? first : "\(first); the only entry point is the start")
    }
    do {
      let join = try StreamMerger(
        plan.video, sets: inputSurvey.survey.sets, container: plan.container)
      return InputParts(
        inputSurvey: inputSurvey, parts: parts,
        decodingTimes: try inputSurvey.survey.decodingTimes(),
        join: join, codec: codec)
    } catch let refusal as CopyRefusal {
      throw CopyRefusal(reason: "\(first); \(refusal.reason)")
    }
  }

  private func mark(_ inputSurvey: InputSurvey) throws -> OrientationMetadata {
    guard isByMetadata else { return OrientationMetadata() }
    if inputSurvey.variesWithFrames {
      guard ["h264", "hevc"].contains(plan.video.codecName) else {
        throw CopyRefusal(
          reason: "the turn changes mid-stream, which \(plan.video.codecLabel) cannot signal")
      }
      return OrientationMetadata()
    }
    return try OrientationMetadata(
      inputSurvey.stretches[0].direction.turn, for: plan.video, muxer: plan.container.muxer,
      wantsMessage: false, isFile: ContainerSink.isStaged(plan.request.output))
  }
}
