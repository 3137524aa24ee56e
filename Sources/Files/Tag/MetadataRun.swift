internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPolicy

/// Runs a transcode with `--upright metadata` within one container: the bytes of a copy that say the orientation are
/// changed, and no others.
final class MetadataRun {
  private let plan: SessionPlan
  private let inputSurvey: InputSurvey
  private let patch: PatchRun
  private let observe: (SessionUpdate) -> Void
  private let started = ContinuousClock.now

  /// Returns `nil` if the packets must be written anew: to another container, with another track of audio, or with an
  /// orientation that varies.
  init?(
    _ plan: SessionPlan, _ copy: CopyPlan.Copy, observe: @escaping (SessionUpdate) -> Void
  ) throws(UprightError) {
    let turns = Set(copy.inputSurvey.stretches.map(\.direction.turn))
    guard plan.options.upright == .metadata, plan.options.audio == nil, turns.count == 1,
      let turn = turns.first, !copy.inputSurvey.variesWithFrames
    else { return nil }
    let session = try TagSession(plan.request, options: .init(orientation: turn))
    guard let patch = try PatchRun.copying(session) else { return nil }
    (self.plan, inputSurvey, self.patch, self.observe) = (plan, copy.inputSurvey, patch, observe)
  }

  func run() throws(UprightError) -> TranscodeReport {
    for entry in inputSurvey.plan.entries { observe(.decision(entry)) }
    var tally = FrameTally(timeBase: plan.video.timeBase)
    for change in inputSurvey.formatChanges(plan, &tally) { observe(.format(change)) }
    let result = try patch.run()
    let shown = inputSurvey.survey.shown.count
    var warnings = plan.warnings + inputSurvey.warnings + result.warnings
    if inputSurvey.survey.hidden > 0 {
      warnings.append(PacketSurvey.warning(hidden: inputSurvey.survey.hidden))
    }
    return TranscodeReport(
      input: .init(
        path: plan.request.input, video: plan.video, frames: shown, duration: plan.duration),
      output: .init(
        named: result.output.path, files: result.output.files, sizes: result.output.sizes,
        frames: shown, copiedFrames: shown, duration: result.output.duration, dropped: []),
      formats: tally.changes, decisions: inputSurvey.plan.entries, warnings: warnings,
      timing: .init(wall: started.secondsUntilNow), stopped: nil)
  }
}
