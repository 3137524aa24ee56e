internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Whether the frames of a transcode are copied, and why. Frames that need no new pixels are not decoded,
/// scaled or encoded.
struct CopyPlan {
  /// An input that is copied as a whole.
  struct Copy {
    /// How the output signals its orientation.
    let mark: OrientationMetadata
    let inputSurvey: InputSurvey
  }

  /// How the frames get into the output.
  enum Way {
    case copy(Copy)
    /// Part by part: some GOPs are copied and the others encoded, or all are encoded in chunks.
    case parts(InputParts)
    case encode
  }

  var way: Way
  /// The reason, as a text for the user.
  let reason: String
  /// The survey of the input; `nil` if the decision was made without one.
  var inputSurvey: InputSurvey?
  /// What to tell the user about the decision.
  var warnings: [String] = []
}

extension CopyPlan {
  /// Decides what is copied for `plan`.
  ///
  /// - Throws: `usage` if copying was requested but frames must be encoded.
  init(_ plan: SessionPlan) throws(UprightError) { self = try Self.decide(plan).chunked(plan) }

  private static func decide(_ plan: SessionPlan) throws(UprightError) -> CopyPlan {
    let options = plan.options
    if options.upright == .pixels && options.reencode == .always {
      return CopyPlan(way: .encode, reason: "requested")
    }
    let decided = try CopyFinder(plan).decide().checked(plan)
    if case .copy = decided.way { return decided }
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
    guard case .copy = way, plan.options.upright == .pixels else { return self }
    do throws(UprightError) {
      let hasFields = try plan.decodeFirstFrame().isInterlaced
      // Packets with one field each, which FLV can hold: browsers refuse an MP4 with such samples.
      if hasFields, (plan.demuxer as? Demuxer)?.isFLV == true, plan.container != .flv {
        return CopyPlan(way: .encode, reason: "each packet holds a single field")
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
    case .count(1): return self
    case .count(let wanted): count = wanted
    case .auto: count = InputParts.usualChunks
    }
    let isAsked = plan.options.chunks != .auto
    var decided = self
    do {
      switch way {
      case .copy: return self
      case .parts(let clip):
        decided.way = .parts(count > 1 ? clip.chunked(count, isAsked: isAsked) ?? clip : clip)
      case .encode:
        guard count > 1 else { return self }
        decided.way = .parts(try wholly(plan, count, isAsked: isAsked))
      }
    } catch let refusal as CopyRefusal {
      if isAsked { decided.warnings = ["encoded in one piece: \(refusal.reason)"] }
    } catch {
      throw error as? UprightError ?? UprightError(.fault, "\(error)")
    }
    return decided
  }

  /// Returns the whole input, split into chunks.
  private func wholly(
    _ plan: SessionPlan, _ count: Int, isAsked: Bool
  ) throws -> InputParts {
    if let reason = InputParts.reasonAgainstChunks(plan) { throw CopyRefusal(reason: reason) }
    let inputSurvey = try inputSurvey ?? InputSurvey(plan)
    guard inputSurvey.survey.isInOrder, inputSurvey.survey.leading == 0 else {
      throw CopyRefusal(reason: "two frames have the same timestamp, or refer to missing ones")
    }
    if try plan.decodeFirstFrame().isInterlaced {
      throw CopyRefusal(reason: "deinterlacing needs neighbouring frames")
    }
    let whole = InputParts.Part(frames: 0..<inputSurvey.survey.shown.count, reason: reason)
    let clip = InputParts(inputSurvey: inputSurvey, parts: [whole], decodingTimes: [])
    guard let chunked = clip.chunked(count, isAsked: isAsked) else {
      throw CopyRefusal(reason: "the input is short, or has too few entry points")
    }
    return chunked
  }
}
