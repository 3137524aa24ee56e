package import UprightOrientation
internal import UprightSignals
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

extension TranscodeSession {
  /// Returns the plan of this transcode in chunks. Reads the packets of the input once, and decodes one frame;
  /// blocks.
  ///
  /// The options of the plan are the session's, with a length of chunks and one thread for each codec if they
  /// don't say otherwise: a plan doesn't depend on how many cores a machine has.
  ///
  /// - Throws: `usage` if the output isn't one file or playlist, or would need the events of standard input;
  ///   `noInput` if the input isn't seekable; the errors of a run that occur before its first frame.
  package func chunkPlan() throws(UprightError) -> ChunkPlan {
    try checkPlan()
    var options = request.options
    options.chunkDuration = options.chunkDuration ?? ChunkPlan.standardDuration
    options.threads = max(1, options.threads)
    options.chunks = .count(1)
    (options.keepsPartial, options.overwrites) = (false, false)
    let session = try TranscodeSession(
      input: input, output: output, inputFormat: request.inputFormat,
      outputFormat: outputFormat, options: options, policy: request.policy, events: request.events)
    let identity = try InputIdentity(of: input, interrupt: request.interrupt)
    var plan = try SessionPlan(session.request, isDryRun: true)
    plan.digestsPackets = true
    let copyPlan = try CopyPlan(plan)
    return try ChunkPlan(
      plan, copyPlan, identity: identity, outputFormat: outputFormat)
  }

  /// The output's container by name, if its name doesn't determine it.
  private var outputFormat: String? {
    let named = try? OutputContainer(target: output).with(request.options.segments)
    return named == request.container ? nil : request.container.name
  }

  private func checkPlan() throws(UprightError) {
    func refuse(_ what: String, at place: String) -> UprightError {
      UprightError(.usage, what, at: place, remedy: "use transcode")
    }
    if output == "-" || InputTrust.scheme(of: output) != nil {
      throw refuse("a plan writes a file or a playlist", at: output)
    }
    if input == "-" { throw refuse("standard input can be read only once", at: input) }
    if case .standardInput = request.events {
      throw refuse("events from standard input are not known in advance", at: "--events -")
    }
    let options = request.options
    if options.splits { throw refuse("a plan writes one file", at: "--split") }
    if options.renditions.count > 1 {
      throw refuse(
        "a plan has one rendition", at: options.ladder.isEmpty ? "--canvas dual" : "--ladder")
    }
    if options.audio != nil { throw refuse("a plan has one input", at: "--audio") }
  }
}

extension OutputContainer {
  /// The value of `--format` for this container.
  fileprivate var name: String {
    switch self {
    case .hls, .hlsTS: "hls"
    default: rawValue
    }
  }
}

extension ChunkPlan {
  init(
    _ plan: SessionPlan, _ copyPlan: CopyPlan, identity: InputIdentity, outputFormat: String?
  ) throws(UprightError) {
    let request = plan.request
    tools = ToolVersions.current
    (input, inputFormat, self.identity) = (request.input, request.inputFormat, identity)
    (output, self.outputFormat, container) = (request.output, outputFormat, request.container)
    policy = request.policy
    events = if case .list(let events) = request.events { events } else { nil }
    stills = try Self.stills(request.options)
    reason = copyPlan.reason
    var options = request.options
    switch copyPlan.method {
    case .copy(let copy):
      (chunks, video, timeline) = ([], nil, copy.inputSurvey.plan.json)
    case .encode:
      guard !plan.container.isSegmented else {
        throw UprightError(
          .usage,
          "the input can't be divided, and a playlist has several files: \(copyPlan.reason)",
          at: request.output, remedy: "use transcode, or write a file")
      }
      (chunks, video, timeline) = ([.whole], nil, nil)
    case .parts(let parts):
      // The canvas is decided once: the longest orientation needs the signals of the whole input.
      options.canvas = plan.canvas.rule
      let tracks = plan.sideTracks.isEmpty ? nil : parts.inputSurvey.survey.tracksDigest
      chunks = try Self.chunks(parts) + (tracks.map { [.tracks(digest: $0)] } ?? [])
      video = try Video(plan, parts)
      timeline = parts.inputSurvey.plan.json
    }
    self.options = options
    warnings = plan.warnings + copyPlan.warnings
  }

  private static func stills(_ options: TranscodeOptions) throws(UprightError) -> [Still] {
    let paths = [options.slate].compactMap(\.self) + options.overlays.map(\.path)
    var stills: [Still] = []
    for path in Set(paths).sorted() {
      stills.append(Still(path: path, digest: try ByteDigest.digest(ofFile: path).digest))
    }
    return stills
  }

  private static func chunks(_ parts: InputParts) throws(UprightError) -> [Chunk] {
    let survey = parts.inputSurvey
    var chunks: [Chunk] = []
    for part in parts.parts {
      let end = part.frames.upperBound
      chunks.append(
        .frames(
          Frames(
            frames: part.frames, start: survey.time(of: part.frames.lowerBound).seconds,
            end: end < survey.survey.shown.count ? survey.time(of: end).seconds : nil,
            reason: part.reason,
            digest: try PacketDigest.combined(survey.survey.digests[part.frames]))))
    }
    return chunks
  }
}

extension ChunkPlan.Video {
  fileprivate init(_ plan: SessionPlan, _ parts: InputParts) throws(UprightError) {
    let survey = parts.inputSurvey.survey
    let formats = try PartFormats(plan, parts)
    (stream, timeBase) = (plan.video.index, plan.video.timeBase)
    (times, changes, warnings) = (survey.shown, survey.changes, survey.warnings)
    alignment = formats.alignment
    let ticks = [times.first, times.last, parts.decodingTimes.first].compactMap(\.self)
    guard ticks.allSatisfy({ abs($0) <= TickRuns.largest }) else {
      throw UprightError(
        .badData, "the timestamps are too large for a plan", at: plan.request.input,
        remedy: "use transcode")
    }
    join =
      parts.join == nil
      ? nil
      : ChunkPlan.Join(
        decodingTimes: parts.decodingTimes,
        sets: (survey.sets.parameterSets?.sets ?? []).map(\.unit),
        reordering: survey.sets.reordering, shared: formats.shared)
  }
}

extension FrameCanvas {
  /// The option that gives this canvas.
  var rule: CanvasRule {
    switch self {
    // Only a reader, whose request isn't made again, has the canvas `frame`.
    case .follow, .frame: .follow
    case .fixed(let isLandscape): isLandscape ? .landscape : .portrait
    case .initial: .initial
    }
  }
}

// MARK: - Working by a plan

extension ChunkPlan {
  /// Opens the input and returns what a session needs before its first frame, as it was when the plan was made.
  ///
  /// - Parameter isDryRun: Whether no output is written.
  /// - Throws: `badData` if the input, a still picture or the libraries have changed.
  func session(_ request: TranscodeRequest, isDryRun: Bool) throws(UprightError) -> SessionPlan {
    try ToolVersions.check(tools)
    guard try InputIdentity(of: request.input, interrupt: request.interrupt) == identity else {
      throw Self.changed(request.input)
    }
    for still in stills where try ByteDigest.digest(ofFile: still.path).digest != still.digest {
      throw Self.changed(still.path)
    }
    let plan = try SessionPlan(request, isDryRun: isDryRun)
    if let video, plan.video.index != video.stream || plan.video.timeBase != video.timeBase {
      throw Self.changed(request.input)
    }
    return plan
  }

  /// The error of a file that isn't the one that the plan was made for.
  static func changed(_ path: String) -> UprightError {
    UprightError(
      .badData, "the file has changed since the plan was made", at: path, remedy: "plan it again")
  }

  /// Returns the parts of the input, without reading it.
  func parts(_ plan: SessionPlan) throws(UprightError) -> InputParts {
    guard let video else { throw UprightError(.fault, "a plan without frames") }
    let sets = try InBandParameterSets(
      plan.video, units: video.join?.sets ?? [], reordering: video.join?.reordering)
    let survey = PacketSurvey(
      shown: video.times, changes: video.changes, sets: sets, warnings: video.warnings)
    do {
      var parts = InputParts(
        inputSurvey: try InputSurvey(plan, survey),
        parts: chunks.compactMap { chunk in
          guard case .frames(let frames) = chunk else { return nil }
          return InputParts.Part(frames: frames.frames, reason: frames.reason)
        }, decodingTimes: video.join?.decodingTimes ?? [])
      if video.join != nil {
        parts.join = try StreamMerger(plan.video, sets: sets, container: plan.container)
        parts.codec = VideoCodec(rawValue: plan.video.codecName)
      }
      return parts
    } catch let error as UprightError {
      throw error
    } catch {
      // The packets give another decision than the plan.
      throw UprightError(
        .badData, "the plan doesn't fit the input", at: plan.request.input,
        remedy: "plan it again")
    }
  }
}
