internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Everything a session decides before its first frame.
package struct SessionPlan {
  let request: TranscodeRequest
  let demuxer: any PacketSource
  var video: StreamInfo
  /// The tracks other than the video track, in output order.
  let sideTracks: [SideTrackWriter]
  /// The streams and chapters that are left out, and why.
  let droppedParts: [String]
  /// The canvases: one, or portrait and landscape.
  let canvases: [FrameCanvas]
  /// Whether the canvas is that of the first frame only because the input can't be analysed in advance.
  let isCanvasUnconfirmed: Bool
  let codec: VideoCodec
  let stills: SessionStills
  var warnings: [String]
  /// How copied frames signal their orientation. `nil` if frames are encoded.
  var mark: OrientationMetadata?
  /// What was found of all frames, where the input is encoded in one piece; `nil` if it wasn't looked through.
  var source: SourceSurvey?
  /// The packets of the video, where the canvas depends on all of them; the reason why they can't be copied; `nil` if they
  /// weren't read.
  let survey: Result<PacketSurvey, CopyRefusal>?
  /// Whether a survey, or the reader of a part, computes digests of the packets.
  var digestsPackets = false
  /// How much coarser segments are encoded than asked for (`VideoEncoder.Settings.coarser`).
  var coarser = 0

  var options: TranscodeOptions { request.options }
  var container: OutputContainer { request.container }
  /// The first canvas.
  var canvas: FrameCanvas { canvases[0] }

  init(_ asked: TranscodeRequest, isDryRun: Bool = false) throws(UprightError) {
    var request = asked
    try OutputCheck.check(request, isDryRun: isDryRun)
    stills = try SessionStills(request.options)
    demuxer = try openSource(
      request.input, format: request.inputFormat, audio: request.options.audio,
      interrupt: request.interrupt)
    try demuxer.checkReadable()
    guard let video = demuxer.bestStream(.video) else {
      throw UprightError(
        .badData, "there is no video stream", at: request.input, remedy: "give an input with video"
      )
    }
    self.video = video
    try request.limitSize(to: video)
    self.request = request
    codec = request.options.codec ?? Self.defaultCodec(of: video, request)
    var dropped: [String]
    (sideTracks, dropped) = try Self.sideTracks(
      demuxer, video: video, request)
    if !demuxer.container.chapters.isEmpty {
      if !request.container.hasChapters {
        dropped.append("chapters: not supported in \(request.container.rawValue)")
      } else if request.options.splits {
        dropped.append(
          "chapters: they apply to the whole input, and each format has a separate file")
      }
    }
    let lost = demuxer.container.implausibleChapters
    if lost > 0 { dropped.append("\(lost) chapters: their start times are invalid") }
    dropped += demuxer.container.unreadRenditions.map {
      "\($0): renditions of this kind can't be read"
    }
    droppedParts = dropped
    let asked = request.options.canvas
    var survey: Result<PacketSurvey, CopyRefusal>?
    canvases =
      asked == .dual
      ? request.options.fixedCanvases
      : [try Self.canvas(request, demuxer, video, beside: sideTracks, &survey)]
    self.survey = survey
    let canvas = canvases[0]
    isCanvasUnconfirmed = canvas == .initial && asked == .auto
    warnings = []
    try checkSizes()
  }

  /// Whether encoded frames must be tone-mapped from HDR to SDR, according to the container.
  var mapsTones: Bool {
    let depth = video.parameters.pixelFormat?.bitDepth ?? 8
    return video.parameters.isHDR && depth > 8 && codec != .raw && !codec.keepsDepth
  }

  /// Returns the default codec. For a file it is the input's codec, so that depth and HDR are kept and the
  /// copied and encoded files of a folder are alike. For a stream it is H.264.
  private static func defaultCodec(of video: StreamInfo, _ request: TranscodeRequest) -> VideoCodec
  {
    let (container, options) = (request.container, request.options)
    let usual = container.defaultCodec
    guard [.mp4, .mov, .matroska, .webm].contains(container) else { return usual }
    let depth = video.parameters.pixelFormat?.bitDepth ?? 8
    let same = VideoCodec(rawValue: video.codecName)
    let suitable = [same, depth > 8 ? .hevc : nil].compactMap(\.self).first { codec in
      guard container.canCarry(codec), options.destination?.codecs.contains(codec) ?? true,
        codec.isLinked, depth == 8 || codec.keepsDepth
      else {
        return false
      }
      // Options for the default codec's encoder may be invalid for this codec's encoder.
      let check: ()? = try? codec.check(
        speed: options.speed, rate: options.rate, options: options.encoderOptions,
        amongOthers: options.encodesAmongOthers)
      return check != nil
    }
    return suitable ?? usual
  }

  // MARK: - Tracks

  private static func sideTracks(
    _ demuxer: any PacketSource, video: StreamInfo, _ request: TranscodeRequest
  ) throws(UprightError) -> ([SideTrackWriter], [String]) {
    let container = request.container
    // Segments that are made one by one have renditions of all tracks.
    let audioLimit = request.makesSegments ? .max : container.audioTrackLimit
    var tracks: [SideTrackWriter] = []
    var dropped: [String] = []
    for stream in demuxer.container.streams where stream.index != video.index {
      guard !isWrittenOtherwise(stream, demuxer, container) else { continue }
      let audioTracks = tracks.count { $0.stream.kind == .audio }
      if let reason = obstacle(
        to: stream, beside: video.index, demuxer, container, audioTracks: audioTracks,
        limit: audioLimit)
      {
        dropped.append("\(stream.label): \(reason)")
        continue
      }
      do throws(UprightError) {
        tracks.append(
          try SideTrackWriter(stream: stream, track: tracks.count + 1, container: container))
        if stream.kind == .audio, stream.editing == .rate {
          dropped.append("\(stream.label): silent where an edit list changes its speed")
        }
      } catch {
        dropped.append("\(stream.label): \(error.message)")
      }
    }
    if video.metadata["alpha_mode"] == "1" {
      dropped.append("\(video.label): its transparency")
    }
    return (tracks, dropped)
  }

  /// Returns whether the output has the stream in another form than a track, or a warning of its own names it.
  private static func isWrittenOtherwise(
    _ stream: StreamInfo, _ demuxer: any PacketSource, _ container: OutputContainer
  ) -> Bool {
    guard stream.kind == .data else { return false }
    // See `lostTimecodes`.
    if stream.codecTag == Timecode.track { return true }
    // QuickTime's chapter track, whose content is written as chapters.
    return stream.codecTag == "text" && container.hasChapters
      && !demuxer.container.chapters.isEmpty
  }

  /// Returns why a stream can't be a track of the output; `nil` if it can.
  ///
  /// - Parameters:
  ///   - video: The index of the video.
  ///   - audioTracks: The number of audio tracks so far.
  ///   - limit: The maximum number of audio tracks.
  private static func obstacle(
    to stream: StreamInfo, beside video: Int, _ demuxer: any PacketSource,
    _ container: OutputContainer, audioTracks: Int, limit: Int
  ) -> String? {
    if stream.isDamagedCover { return "a cover that cannot be read" }
    if container.isAttachment(stream) { return nil }
    guard demuxer.belongs(stream.index, with: video) else { return "of another program" }
    switch stream.kind {
    case .audio:
      guard container.audioEncoder != nil else {
        return "\(container.rawValue) cannot carry audio"
      }
      let isChosen =
        audioTracks < limit
        && (limit != 1 || stream.index == demuxer.bestStream(.audio)?.index)
      return isChosen ? nil : "\(container.rawValue) carries one audio track"
    case .subtitle
    where container.copiesSubtitles(stream.codecName)
      || stream.isText && container.subtitleEncoder != nil:
      return nil
    case .video where stream.isAttachedPicture:
      return container.acceptsCover(stream.codecName) ? nil : "cover picture"
    case .video: return "only one video track is transcoded"
    default: return "not supported in \(container.rawValue)"
    }
  }

  // MARK: - Canvas

  /// - Throws: `usage` if a rung would be larger than the source, or both canvases a square.
  private mutating func checkSizes() throws(UprightError) {
    // Few inputs have no size before the first frame.
    guard video.parameters.size.hasArea else { return }
    var size = video.frameShape.streamSize
    if options.ladder.contains(where: { size.isSmaller(than: $0.size) }) {
      self = try surveyed()
      size = source?.shape.streamSize ?? size
    }
    for rung in options.ladder where size.isSmaller(than: rung.size) {
      throw UprightError(
        .usage, "\(rung.name) is larger than the input, which is \(size)", at: "--ladder",
        remedy: "remove the rung: it would have no more detail")
    }
    guard options.canvas == .dual,
      try options.fixedGuidance(policy: request.policy.stream, container: request.container) == nil
    else { return }
    try TranscodeOptions.check(dual: size)
  }

  /// - Parameter survey: Becomes that of the packets, if the canvas depends on all of them.
  private static func canvas(
    _ request: TranscodeRequest, _ demuxer: any PacketSource, _ video: StreamInfo,
    beside others: [SideTrackWriter], _ survey: inout Result<PacketSurvey, CopyRefusal>?
  ) throws(UprightError) -> FrameCanvas {
    let asked = request.options.canvas
    if request.returnsFrames, asked == .auto {
      if case .pair = request.options.size { return .follow }
      return .frame
    }
    let rule = asked == .auto ? request.defaultCanvas : asked
    switch rule {
    case .follow, .auto: return .follow
    case .portrait, .dual: return .fixed(isLandscape: false)
    case .landscape: return .fixed(isLandscape: true)
    case .initial: return .initial
    case .majority:
      let isLive = if case .standardInput = request.events { true } else { false }
      guard !isLive, demuxer.container.isSeekable,
        let duration = video.duration ?? demuxer.container.duration
      else {
        if asked == .majority {
          throw UprightError(
            .usage, "the longest orientation is not known in advance", at: "--canvas majority",
            remedy: "use --canvas initial, portrait or landscape")
        }
        return .initial
      }
      if request.scansSignals {
        survey = try PacketSurvey.result(demuxer, video, beside: others, request)
      }
      return .fixed(
        isLandscape: try isMostlyLandscape(request, demuxer, video, survey, duration: duration))
    }
  }

  /// Runs the policy over the whole input before its frames are processed.
  private static func isMostlyLandscape(
    _ request: TranscodeRequest, _ demuxer: any PacketSource, _ video: StreamInfo,
    _ survey: Result<PacketSurvey, CopyRefusal>?, duration: MediaTime
  ) throws(UprightError) -> Bool {
    var director = try request.director(
      size: video.frameShape.shown, guidance: .standard, canvas: .follow)
    for event in request.shiftedEvents { try director.push(event) }
    let changes: [SignalScan.Change] =
      switch survey {
      case nil: []
      case .success(let survey): survey.changes
      case .failure: try SignalScan.changes(of: demuxer, request)
      }
    for change in changes {
      _ = try director.direct(
        at: change.time.seconds, size: change.shown, signal: change.signal?.turn)
    }
    director.finish()
    return MajorityCanvas.isLandscape(director.plan.timeline, duration: duration.seconds)
  }

  // MARK: - Format

  /// Returns the sizes of the stream, given the first frame.
  func guidance(first shape: FrameShape) throws(UprightError) -> StreamGuidance {
    if let fixed = try options.fixedGuidance(policy: request.policy.stream, container: container) {
      return fixed
    }
    let guidance = StreamGuidance(encodeSize: shape.streamSize, captureSize: options.captureSize)
    do throws(PolicyError) { try guidance.check() } catch {
      throw UprightError(error, code: .usage)
    }
    return guidance
  }

  /// Returns the plan with what is found of all frames.
  func surveyed() throws(UprightError) -> SessionPlan {
    // The defaults of an output; frames of their own size need none, and the first one comes at once.
    guard source == nil, canvas != .frame else { return self }
    var plan = self
    plan.source = try SourceSurvey(self)
    return plan
  }

  /// The frame rate, in frames per second; `nil` if unknown.
  var frameRate: Rational? { constantRate ?? source?.frameRate ?? video.frameRate }

  /// The constant rate of the output, in frames per second; `nil` if each frame keeps its time.
  var constantRate: Rational? {
    switch options.constantRate ?? options.destination?.constantRate {
    case .fixed(let rate): rate
    case .usual: usualRate
    case nil: nil
    }
  }

  /// The input's rate, or the standard one beside it, which players and editors know.
  private var usualRate: Rational {
    let measured = source?.frameRate ?? video.frameRate ?? Rational(30, 1)
    let distance: (Rational) -> Double = { abs($0.doubleValue / measured.doubleValue - 1) }
    if let near = SourceSurvey.standardRates.min(by: { distance($0) < distance($1) }),
      distance(near) < 0.03
    {
      return near
    }
    return ConstantRate.limits.contains(measured.doubleValue) ? measured : Rational(30, 1)
  }

  /// Returns the format of an encoder whose first frame has the format `first`: the deepest of the input.
  private func format(_ first: PixelFormat, _ codec: VideoCodec) -> PixelFormat {
    let deepest = source?.format.flatMap { $0.bitDepth > first.bitDepth ? $0 : nil }
    return codec.encodingFormat(for: deepest ?? first)
  }

  /// Seconds per tick of the video timestamps, from the encoders on. A frame of a constant rate is a whole number
  /// of ticks long.
  var videoTimeBase: Rational {
    constantRate.map { Rational(1, $0.numerator).refined } ?? video.timeBase.refined
  }

  /// Returns the encoder settings. Size and colour are set later from the frames.
  ///
  /// - Parameters:
  ///   - wanted: The codec; `nil` for the requested codec or the default codec.
  ///   - isWhole: Whether these encoders write the whole track: nothing is copied or split into chunks.
  func encoderSettings(
    first frame: borrowing VideoFrame, codec wanted: VideoCodec? = nil, isWhole: Bool = false
  ) -> VideoEncoder.Settings {
    let codec = wanted ?? codec
    var settings = VideoEncoder.Settings(
      codec: codec, size: frame.size, format: format(frame.format, codec),
      colour: frame.colour, timeBase: videoTimeBase)
    (settings.frameRate, settings.rate) = (frameRate, options.firstRate)
    (settings.speed, settings.gop) = (options.speed, options.gop)
    if let encoder = options.encoder, encoder.codec == codec { settings.encoder = encoder }
    (settings.isLive, settings.isAmongOthers) = (options.isLive, options.encodesAmongOthers)
    settings.wantsGlobalHeader = container.wantsGlobalHeader
    settings.repeatsHeaders =
      container.canFollow && !options.splits && codec != .raw
      && !(codec == .hevc && isWhole && isSelfContained)
    (settings.threads, settings.options) = (options.threads, options.encoderOptions)
    if request.makesSegments { adaptToSegments(&settings) }
    if settings.gop == nil, container.isSegmented, let rate = frameRate {
      // Segments begin at forced IDR frames; the encoder must not insert many more.
      settings.gop = max(
        1, Int(clamping: min(rate.doubleValue * options.segmentDuration, 1e6).rounded(.up)) + 1)
    }
    return settings
  }

  /// Whether all parameter sets are in the only sample entry. If formats change, they are in band too:
  /// libavformat 5.1 can't follow HEVC's second sample entry or init segment otherwise.
  private var isSelfContained: Bool {
    guard canvas != .follow else { return false }
    return switch container {
    case .hls: true
    case .mp4, .mov: ContainerSink.isStaged(request.output)
    default: false
    }
  }

  /// Returns a warning about a signal that isn't followed to the degree; `nil` if there is nothing to warn
  /// about.
  func warning(of signal: OrientationSignal, at time: MediaTime) -> String? {
    guard !signal.isExact, options.frames.isSignalled, !options.levels else { return nil }
    return
      "at \(time.seconds): the \(signal.source.rawValue) signal is not a multiple of 90 degrees; "
      + "the nearest quarter turn is used (--level follows it)"
  }
}

extension Rational {
  /// A finer time base that includes every tick of this one: 1/n with at least 10000 ticks per second, so
  /// that decoding times fit between those of neighbouring frames.
  var refined: Rational {
    var denominator = max(1, self.denominator)
    while denominator < 10_000 { denominator *= 2 }
    return Rational(1, denominator)
  }
}
