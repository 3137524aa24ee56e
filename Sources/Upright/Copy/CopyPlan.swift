internal import MediaIO
internal import Orientation
internal import RotationPolicy

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
    /// Some GOPs are copied, and the others encoded.
    case join(ClipParts)
    case encode
  }

  let way: Way
  /// Why, for a person.
  let reason: String

  /// Decides for `plan`.
  ///
  /// - Throws: `usage` where copying was asked for and new pictures are needed.
  static func decide(_ plan: SessionPlan) throws(MediaError) -> CopyPlan {
    let options = plan.options
    if options.upright == .pixels && options.reencode == .always {
      return CopyPlan(way: .encode, reason: "asked for")
    }
    let decided = try CopyFinder(plan).decide()
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
}
