internal import UprightContainers
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// The plan of a session: `--dry-run`.
public struct TranscodePlan: Sendable {
  /// The plan as lines of text.
  public let lines: [String]

  init(_ plan: SessionPlan, _ decided: CopyPlan) {
    let (codec, mapsTones) =
      switch decided.way {
      case .copy: (plan.video.codecName, false)
      case .parts(let parts): ((parts.codec ?? plan.codec).rawValue, plan.mapsTones)
      case .encode: (plan.codec.rawValue, plan.mapsTones)
      }
    let size = plan.video.parameters.size
    var lines = [
      "input   \(plan.request.input): \(plan.video.codecName) \(size), "
        + (plan.duration.map { "\($0.rounded(toPlaces: 3)) s" } ?? "duration unknown"),
      "output  \(plan.request.output): \(plan.container.rawValue), \(codec)",
    ]
    let canvas =
      switch plan.canvas {
      case .follow: "follows the app orientation"
      case .fixed(let isLandscape): isLandscape ? "landscape, fixed" : "portrait, fixed"
      case .initial: "the shape at the first frame, fixed"
      }
    lines.append("canvas  \(canvas)")
    lines += Self.frames(decided)
    if mapsTones { lines.append("colour  HDR is tone-mapped to BT.709 in 8 bits") }
    for track in plan.sideTracks {
      lines.append(
        "track   stream \(track.stream.index): \(track.stream.codecName), \(track.action)")
    }
    lines += plan.allDropped().map { "dropped \($0)" }
    lines += (plan.warnings + decided.warnings).map { "warning \($0)" }
    self.lines = lines
  }

  /// Returns which parts are copied and encoded, and why.
  private static func frames(_ decided: CopyPlan) -> [String] {
    switch decided.way {
    case .copy: return ["frames  copied: \(decided.reason)"]
    case .encode: return ["frames  re-encoded: \(decided.reason)"]
    case .parts(let clip) where clip.join == nil:
      return [
        "frames  re-encoded: \(decided.reason)",
        "chunks  \(clip.parts.count), \(clip.concurrency) in parallel",
      ]
    case .parts(let clip):
      let total = clip.inputSurvey.survey.shown.count
      let copied = clip.copiedFrames
      return ["frames  \(copied) copied, \(total - copied) re-encoded"]
        + clip.parts.map { part in
          let from = clip.inputSurvey.seconds(of: part.frames.lowerBound).rounded(toPlaces: 3)
          let end =
            part.frames.upperBound < total
            ? "\(clip.inputSurvey.seconds(of: part.frames.upperBound).rounded(toPlaces: 3)) s"
            : "the end"
          return "part    \(from) s to \(end): "
            + (part.reason.map { "re-encoded: \($0)" } ?? "copied")
        }
    }
  }
}

extension SideTrackWriter {
  /// How the track is processed, in one word.
  var action: String {
    switch work {
    case .copy, .filter: "copied"
    case .transcode: "re-encoded"
    case .rewrite: "converted"
    }
  }
}
