internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

extension TranscodePlan {
  init(_ plan: SessionPlan, _ copyPlan: CopyPlan) {
    var plan = plan
    if case .copy(let copy) = copyPlan.method { plan.mark = copy.mark }
    let parts = Self.parts(plan, copyPlan)
    let isCopied = parts.allSatisfy(\.isCopied)
    let codec =
      switch copyPlan.method {
      case .copy: plan.video.codecName
      case .parts(let inputParts): (inputParts.codec ?? plan.codec).rawValue
      case .encode: plan.codec.rawValue
      }
    self.init(
      input: Input(
        path: plan.request.input, codec: plan.video.codecName, size: plan.video.frameShape.shown,
        duration: plan.duration?.seconds),
      output: Output(path: plan.request.output, container: plan.container, codec: codec),
      destination: plan.options.destination?.explanation(in: plan.container),
      canvases: plan.canvases, renditions: Self.renditions(plan), parts: parts,
      concurrency: copyPlan.concurrency,
      isToneMapped: !isCopied && plan.mapsTones, tracks: plan.sideTracks.map(Track.init),
      dropped: plan.allDropped(frameMetadata: plan.losses(copyPlan.method)),
      warnings: plan.warnings + copyPlan.warnings)
  }

  private static func renditions(_ plan: SessionPlan) -> [PlannedRendition] {
    let (request, options) = (plan.request, plan.options)
    let renditions = options.renditions
    guard renditions.count > 1 else { return [] }
    let playlists = request.playlists(hasAudio: false)
    return renditions.enumerated().map { index, rendition in
      PlannedRendition(
        name: rendition.name,
        path: playlists.map { $0.path(of: $0.media[index]) } ?? request.outputs[rendition.canvas],
        rate: options.ladder.isEmpty
          ? options.rate : options.rate(of: options.ladder[rendition.rung]))
    }
  }

  private static func parts(_ plan: SessionPlan, _ copyPlan: CopyPlan) -> [Part] {
    let options = plan.options
    func whole(frames: Int?, isCopied: Bool) -> Part {
      Part(
        start: options.start ?? 0, end: options.end, frames: frames, isCopied: isCopied,
        reason: copyPlan.reason)
    }
    switch copyPlan.method {
    case .copy(let copy):
      return [whole(frames: copy.inputSurvey.survey.shown.count, isCopied: true)]
    case .encode: return [whole(frames: nil, isCopied: false)]
    case .parts(let inputParts):
      let survey = inputParts.inputSurvey
      let total = survey.survey.shown.count
      return inputParts.parts.map { part in
        let end = part.frames.upperBound
        return Part(
          start: survey.time(of: part.frames.lowerBound).seconds,
          end: end < total ? survey.time(of: end).seconds : nil, frames: part.frames.count,
          isCopied: part.isCopied, reason: part.reason ?? CopyPlan.reasonToCopy)
      }
    }
  }
}

extension TranscodePlan.Track {
  init(_ track: SideTrackWriter) {
    let action: Action =
      switch track.work {
      case .copy, .filter, .attach: .copy
      case .transcode: .encode
      case .rewrite: .convert
      }
    self.init(
      stream: track.stream.index, kind: track.stream.kind, codec: track.stream.codecName,
      action: action)
  }
}

extension SessionPlan {
  /// Returns what frames lose by being encoded, as the first frame shows it.
  fileprivate func losses(_ method: CopyPlan.Method) -> Set<String> {
    if case .copy = method { return [] }
    // A frame that can't be decoded is an error of the run, not of its plan.
    guard let frame = try? decodeFirstFrame() else { return [] }
    var settings = encoderSettings(first: frame)
    if case .parts(let parts) = method, let join = parts.join { settings = join.settings(settings) }
    var losses = Set(frame.dynamicMetadata)
    if frame.colour.isHDR && frame.format.bitDepth > 8 && settings.format.bitDepth == 8 {
      losses.insert(EncodingLosses.toneMapping)
    } else {
      losses.formUnion(EncodingLosses.of(frame, settings, container: container.rawValue))
    }
    return losses
  }
}
