internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

/// Whether the frames of a transcode are copied, and why. Frames that need no new pixels are not decoded,
/// scaled or encoded.
struct CopyPlan {
  /// An input that is copied as a whole.
  struct Copy {
    /// How the output signals its orientation.
    let mark: OrientationMetadata
    let inputSurvey: InputSurvey
    /// The packets' decoding times, where the input's are later than the frames are shown; else `nil`.
    let decodingTimes: [Int64]?
  }

  /// The ways to write frames.
  enum Method {
    /// All frames are copied.
    case copy(Copy)
    /// Part by part: some GOPs are copied and the others encoded, or all are encoded in chunks.
    case parts(InputParts)
    /// All frames are decoded and encoded, in one piece.
    case encode
  }

  /// How the frames get into the output.
  var method: Method
  /// The reason, as a text for the user.
  let reason: String
  /// The survey of the input; `nil` if the decision was made without one.
  var inputSurvey: InputSurvey?
  /// What to tell the user about the decision.
  var warnings: [String] = []

  /// The reason to copy frames that need no change.
  static let reasonToCopy = "every frame is already upright"

  /// The number of parts that are encoded in parallel.
  var concurrency: Int { if case .parts(let parts) = method { parts.concurrency } else { 1 } }
}

extension CopyPlan {
  /// Decides what is copied for `plan`.
  ///
  /// - Throws: `usage` if copying was requested but frames must be encoded.
  init(_ plan: SessionPlan) throws(UprightError) { self = try Self.decide(plan).chunked(plan) }

  private static func decide(_ plan: SessionPlan) throws(UprightError) -> CopyPlan {
    let options = plan.options
    if options.upright == .pixels && options.reencode == .always {
      return CopyPlan(method: .encode, reason: "requested")
    }
    if plan.request.movesFocus {
      return CopyPlan(method: .encode, reason: "the crop follows the focus")
    }
    if options.renditions.count > 1 {
      return CopyPlan(method: .encode, reason: "there are several renditions")
    }
    let decided = try CopyFinder(plan).decide().checked(plan)
    if case .copy = decided.method { return decided }
    if options.upright == .metadata {
      throw UprightError(
        .usage, "metadata is not enough: \(decided.reason)", at: "--upright metadata",
        remedy: "use --upright pixels")
    }
    if options.reencode == .never {
      throw UprightError(
        .usage, "frames would have to be encoded: \(decided.reason)", at: "--reencode never",
        remedy: "use --reencode auto")
    }
    return decided
  }

  /// Returns the same plan if the first frame of an input that is to be copied can be decoded.
  ///
  /// - Throws: `badData` if no frame can be decoded.
  private func checked(_ plan: SessionPlan) throws(UprightError) -> CopyPlan {
    guard case .copy(let copy) = method, plan.options.upright == .pixels else { return self }
    // Packets with one field each, which FLV can hold: browsers refuse an MP4 with such samples.
    let mayHaveFields = (plan.demuxer as? Demuxer)?.isFLV == true && plan.container != .flv
    let makesSegments = plan.request.makesSegments
    // A player waits for segments.
    if makesSegments, !mayHaveFields, Self.isProgressive(plan, copy.inputSurvey) { return self }
    do throws(UprightError) {
      if try plan.decodeFirstFrame().isInterlaced, mayHaveFields || makesSegments {
        return CopyPlan(
          method: .encode,
          reason: makesSegments
            ? "few players of HLS deinterlace" : "each packet holds a single field",
          inputSurvey: copy.inputSurvey)
      }
    } catch {
      // A codec without a decoder can be copied.
      guard error.code == .unavailable else { throw error }
    }
    return self
  }

  /// Returns the plan with its encoded parts split into chunks according to `--chunks`, with a warning if
  /// chunks were requested and aren't possible.
  private func chunked(_ plan: SessionPlan) throws(UprightError) -> CopyPlan {
    let count: Int
    switch plan.options.chunks {
    case .count(1) where plan.options.chunkDuration == nil: return self
    case .count(let wanted): count = wanted
    case .auto: count = InputParts.usualChunks
    }
    let duration = plan.options.chunkDuration.map { MediaTime(seconds: $0) }
    let isRequested = plan.options.chunks != .auto || duration != nil
    var decided = self
    do {
      switch method {
      case .copy: return self
      case .parts(let parts):
        if let duration {
          decided.method = .parts(parts.chunked(count, every: duration))
        } else if count > 1 {
          decided.method = .parts(parts.chunked(count, isRequested: isRequested) ?? parts)
        }
      case .encode:
        guard count > 1 || duration != nil else { return self }
        decided.method = .parts(
          try inChunks(plan, count, isRequested: isRequested, every: duration))
      }
    } catch let refusal as CopyRefusal {
      if isRequested { decided.warnings = ["encoded in one piece: \(refusal.reason)"] }
    } catch {
      throw error as? UprightError ?? UprightError(.fault, "\(error)")
    }
    return decided
  }

  /// Whether frames can be decoded and are progressive, as far as that is known without decoding one.
  private static func isProgressive(_ plan: SessionPlan, _ inputSurvey: InputSurvey) -> Bool {
    // A frame that was decoded to find the streams gave the format.
    plan.video.parameters.pixelFormat != nil && inputSurvey.survey.sets.areProgressive
  }

  /// Returns the whole input, split into chunks.
  private func inChunks(
    _ plan: SessionPlan, _ count: Int, isRequested: Bool, every duration: MediaTime?
  ) throws -> InputParts {
    if let reason = InputParts.reasonAgainstChunks(plan) { throw CopyRefusal(reason: reason) }
    let inputSurvey = try inputSurvey ?? InputSurvey(plan)
    guard inputSurvey.survey.isInOrder else {
      throw CopyRefusal(reason: PacketSurvey.isOutOfOrder)
    }
    guard inputSurvey.survey.leading == 0 || plan.request.makesSegments else {
      throw CopyRefusal(reason: "the input begins within a GOP")
    }
    // Segments that are made one by one are decoded from a hidden keyframe on.
    if inputSurvey.survey.hidden > 0, !plan.request.makesSegments {
      throw CopyRefusal(reason: PacketSurvey.hides)
    }
    let isInterlaced =
      try !Self.isProgressive(plan, inputSurvey) && plan.decodeFirstFrame().isInterlaced
    if isInterlaced, !plan.request.makesSegments {
      throw CopyRefusal(reason: "deinterlacing needs neighbouring frames")
    }
    let whole = InputParts.Part(frames: 0..<inputSurvey.survey.shown.count, reason: reason)
    var parts = InputParts(inputSurvey: inputSurvey, parts: [whole], decodingTimes: [])
    if isInterlaced { parts.neighbours = 1 }
    if let duration { return parts.chunked(count, every: duration) }
    guard let chunked = parts.chunked(count, isRequested: isRequested) else {
      throw CopyRefusal(reason: "the input is short, or has too few entry points")
    }
    return chunked
  }
}
