internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Splits long encoded parts into chunks that are encoded in parallel: `--chunks`.
extension InputParts {
  /// The minimum length of a chunk: about the usual keyframe interval of an encoder.
  private static let length = MediaTime(8, .one)
  /// The minimum length of a chunk, if the input is too short for longer ones.
  private static let shortest = MediaTime(2, .one)

  /// The default number of parallel chunks on this machine. Several encoders with one thread each do less
  /// work in total than one encoder with many threads, and keep all cores busy. Each encoder needs memory.
  static var usualChunks: Int { min(Processors.count, 8) }

  /// Returns why the input must be encoded in one piece, as a text for the user; `nil` if it need not be.
  static func reasonAgainstChunks(_ plan: SessionPlan) -> String? {
    let options = plan.options
    if plan.request.movesFocus { return "the crop follows the focus" }
    if options.renditions.count > 1 { return "renditions are encoded side by side" }
    if plan.constantRate != nil { return "a constant rate counts the frames of the whole input" }
    if let encoder = options.encoder, encoder.isHardware {
      return "\(encoder.name) encodes one part at a time"
    }
    if options.isLive { return "--latency live reads nothing ahead" }
    if options.splits { return "--split starts a new encoder for each file" }
    if options.start != nil || options.end != nil {
      return "--start and --to cut between entry points"
    }
    if plan.video.editing == .rate || plan.video.editing != .none && !plan.request.makesSegments {
      return "an edit list cuts the input"
    }
    if plan.container == .y4m { return "y4m stores uncompressed frames" }
    if case .bitrate = options.rate, !plan.request.makesSegments {
      return "a bitrate, or a preset of --size, applies to the whole input"
    }
    return CopyFinder.reasonAgainstLookingAhead(plan)
  }

  /// Returns the same input with its encoded parts split into chunks, `count` of them in parallel; `nil` if
  /// it can't be split.
  ///
  /// - Parameters:
  ///   - count: 2 or more.
  ///   - isRequested: Whether the user requested the number. If not, no chunk is shorter than an encoder's default
  ///     GOP, so that chunks cost no extra bits.
  func chunked(_ count: Int, isRequested: Bool) -> InputParts? {
    let encoded = parts.filter { !$0.isCopied }.map(duration).reduce(.zero, +)
    let length = min(
      Self.length, max(isRequested ? Self.shortest : Self.length, encoded / (count * 2)))
    let chunked = chunked(count, every: length)
    return chunked.parts.count > parts.count ? chunked : nil
  }

  /// Returns the same input with its encoded parts split into chunks of at least `length`, if there are entry
  /// points for it.
  ///
  /// - Parameter count: How many are encoded in parallel.
  func chunked(_ count: Int, every length: MediaTime) -> InputParts {
    let cuts = inputSurvey.survey.cuts().filter {
      !inputSurvey.stretch(of: $0).direction.showsEarlierFrame
    }
    var chunked = self
    chunked.concurrency = count
    chunked.parts = parts.flatMap { $0.isCopied ? [$0] : portions(of: $0, at: cuts, every: length) }
    return chunked
  }

  /// Returns a part in pieces of at least `length`, divided at some of the cuts.
  ///
  /// - Parameter first: The least length of the first piece; `nil` for that of the others.
  func portions(
    of part: Part, at cuts: [Int], every length: MediaTime, first: MediaTime? = nil
  ) -> [Part] {
    var pieces = [part]
    for cut in cuts where part.frames.dropFirst().contains(cut) {
      let start = pieces[pieces.count - 1].frames.lowerBound
      let least = pieces.count == 1 ? first ?? length : length
      guard duration(of: start..<cut) >= least - .millisecond,
        duration(of: cut..<part.frames.upperBound) >= length / 2
      else { continue }
      pieces[pieces.count - 1].frames = start..<cut
      pieces.append(Part(frames: cut..<part.frames.upperBound, reason: part.reason))
    }
    return pieces
  }

  /// Returns the duration of a part, without that of its last frame.
  func duration(of part: Part) -> MediaTime { duration(of: part.frames) }

  private func duration(of frames: Range<Int>) -> MediaTime {
    let last = inputSurvey.survey.shown.count - 1
    return inputSurvey.time(of: min(frames.upperBound, last))
      - inputSurvey.time(of: min(frames.lowerBound, last))
  }

  /// Returns the keyframe clock of each part, so that keyframes are where they would be if the input were
  /// encoded in one piece.
  func keyframeClocks(_ clock: KeyframeClock) -> [KeyframeClock] {
    var clock = clock
    return parts.map { part in
      let first = clock
      advance(&clock, over: part.frames)
      return first
    }
  }

  /// Counts frames that were encoded.
  func advance(_ clock: inout KeyframeClock, over frames: Range<Int>) {
    for frame in frames {
      _ = clock.isDue(
        at: inputSurvey.time(of: frame), canvas: inputSurvey.stretch(of: frame).direction.canvas)
    }
  }

  /// Returns the canvas at a frame, and the turn of the first frame on that canvas, which decides the chroma
  /// siting.
  func canvas(at frame: Int) -> (size: PixelSize, turn: ImageOrientation) {
    let canvas = inputSurvey.stretch(of: frame).direction.canvas
    let before = inputSurvey.stretches(in: 0..<frame + 1)
    let first = before.last { $0.direction.canvas != canvas }.map { other in
      before.first { $0.firstFrame > other.firstFrame }
    }
    let stretch = (first ?? before.first) ?? inputSurvey.stretch(of: frame)
    return (canvas, stretch.direction.turn)
  }
}
