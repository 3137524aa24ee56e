internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// Whether the pictures of a transcode are copied, and why: what does not need new pixels is not
/// decoded, scaled or encoded.
struct CopyPlan {
  /// A clip that is copied as a whole.
  struct Copy {
    /// What the output says of its orientation.
    let mark: OrientationMark
    let outlook: Outlook
  }

  /// How the pictures come into the output.
  enum Way {
    case copy(Copy)
    /// Part by part: some GOPs are copied and the others encoded, or all are encoded in chunks.
    case parts(ClipParts)
    case encode
  }

  var way: Way
  /// Why, for a person.
  let reason: String
  /// What was seen on the way to a decision; nil where it was made without looking.
  var outlook: Outlook?

  /// What to tell the user of the decision.
  var warnings: [String] = []

  init(way: Way, reason: String, outlook: Outlook? = nil) {
    (self.way, self.reason, self.outlook) = (way, reason, outlook)
  }

  /// Decides for `plan`.
  ///
  /// - Throws: `usage` if copying was asked for and new frames are needed.
  init(_ plan: SessionPlan) throws(MediaError) { self = try Self.decide(plan).chunked(plan) }

  private static func decide(_ plan: SessionPlan) throws(MediaError) -> CopyPlan {
    let options = plan.options
    if options.upright == .pixels && options.reencode == .always {
      return CopyPlan(way: .encode, reason: "asked for")
    }
    let decided = try CopyFinder(plan).decide().checked(plan)
    if case .copy = decided.way { return decided }
    if options.upright == .metadata {
      throw MediaError(
        .usage, "cannot be done by metadata: \(decided.reason)", at: "--upright metadata",
        remedy: "use --upright pixels")
    }
    if options.reencode == .never {
      throw MediaError(
        .usage, "pictures would have to be encoded: \(decided.reason)", at: "--reencode never",
        remedy: "use --reencode auto")
    }
    return decided
  }

  /// The same if the first frame of a clip that would be copied can be decoded.
  ///
  /// - Throws: `badData` if nothing can.
  private func checked(_ plan: SessionPlan) throws(MediaError) -> CopyPlan {
    guard case .copy = way, plan.options.upright == .pixels else { return self }
    do throws(MediaError) {
      let hasFields = try plan.firstPicture().isInterlaced
      // A field a packet, as FLV has them: browsers refuse an MP4 of such samples.
      if hasFields, (plan.demuxer as? Demuxer)?.isFLV == true, plan.container != .flv {
        return CopyPlan(way: .encode, reason: "its frames are fields in packets of their own")
      }
    } catch {
      // A codec without a decoder can be copied.
      guard error.code == .unavailable else { throw error }
    }
    return self
  }

  /// The same plan, with what is encoded cut into chunks if `--chunks` asks for that and it is possible.
  private func chunked(_ plan: SessionPlan) throws(MediaError) -> CopyPlan {
    let count: Int
    switch plan.options.chunks {
    case .count(1): return self
    case .count(let wanted): count = wanted
    case .auto: count = ClipParts.usualChunks
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
      throw error as? MediaError ?? MediaError(.fault, "\(error)")
    }
    return decided
  }

  /// All of the clip in chunks.
  private func wholly(
    _ plan: SessionPlan, _ count: Int, isAsked: Bool
  ) throws -> ClipParts {
    if let reason = ClipParts.reasonAgainstChunks(plan) { throw CopyRefusal(reason: reason) }
    let outlook = try outlook ?? Outlook(plan)
    guard outlook.survey.isInOrder, outlook.survey.leading == 0 else {
      throw CopyRefusal(reason: "two pictures have the same time, or refer to what is not there")
    }
    if try plan.firstPicture().isInterlaced {
      throw CopyRefusal(reason: "interlaced pictures need their neighbours")
    }
    let whole = ClipParts.Part(frames: 0..<outlook.survey.shown.count, reason: reason)
    let clip = ClipParts(outlook: outlook, parts: [whole], decodingTimes: [])
    guard let chunked = clip.chunked(count, isAsked: isAsked) else {
      throw CopyRefusal(reason: "the clip is short, or has too few places where it can be entered")
    }
    return chunked
  }
}
