internal import Foundation
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

extension SessionPlan {
  /// Judges at the end of a run how reading went.
  ///
  /// - Parameter frames: pictures that came out.
  /// - Returns: a warning of what was lost; nil where nothing was.
  /// - Throws: where nothing came of it, or where losses are errors.
  func verdict(_ outcome: SourceOutcome, frames: Int) throws(MediaError) -> String? {
    if frames == 0 { throw nothing(outcome) }
    let losses = losses(outcome, sound: sideTracks.map(\.damagedPackets).reduce(0, +))
    guard !losses.isEmpty else { return nil }
    if options.isStrict {
      throw MediaError(
        .badData, losses.joined(separator: "; "), at: request.input,
        remedy: "leave out --strict to keep what can be decoded")
    }
    if let error = outcome.error, error.code == .inputOutput,
      InputTrust.scheme(of: request.input) == nil
    {
      throw error
    }
    return "the input is damaged: " + losses.joined(separator: "; ")
  }

  /// Why no picture came out.
  private func nothing(_ outcome: SourceOutcome) -> MediaError {
    if outcome.isStopped { return MediaError(.cancelled, "stopped", at: request.input) }
    if let error = outcome.error { return error }
    if options.start != nil || options.end != nil, outcome.frames > 0 {
      return MediaError(
        .usage, "no frame lies in the part that is wanted", at: request.input,
        remedy: "check --start and --to")
    }
    return MediaError(
      .badData, "no frame can be decoded", at: request.input, remedy: "the clip is damaged")
  }

  /// What was lost of a damaged input, in words; empty where nothing was.
  private func losses(_ outcome: SourceOutcome, sound: Int) -> [String] {
    var losses: [String] = []
    func add(_ count: Int, _ one: String, _ what: String) {
      if count > 0 { losses.append("\(count) \(one)\(count == 1 ? "" : "s") \(what)") }
    }
    add(outcome.damagedPackets, "video packet", "could not be decoded")
    add(outcome.damagedFrames, "frame", "had to be patched")
    add(sound, "sound packet", "could not be decoded")
    if let error = outcome.error { losses.append(error.message) }
    add(outcome.undecodedPackets(of: video) ?? 0, "packet", "gave no picture")
    // An index that promises more than the file holds: cut off.
    let missing = video.frameCount - outcome.videoPackets
    let isWhole = !outcome.isStopped && !outcome.isPartial && !outcome.isCut
    if missing > 0 && isWhole && !video.isAttachedPicture {
      losses.append("\(missing) of \(video.frameCount) frames are not in the file")
    }
    losses += demuxer.losses
    add(outcome.repairedTimestamps, "timestamp", "did not rise")
    return losses
  }
}
