internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

extension SessionPlan {
  /// Evaluates at the end of a run how reading went.
  ///
  /// - Parameters:
  ///   - frames: The number of output frames.
  ///   - damagedSide: The number of packets of other tracks that could not be decoded; `nil` for those of this
  ///     plan's tracks.
  /// - Returns: A warning about losses; `nil` if there were none.
  /// - Throws: An error if there is no output, or if losses are errors.
  func readingLosses(
    _ outcome: SourceOutcome, frames: Int, damagedSide: Int? = nil
  ) throws(UprightError) -> String? {
    if frames == 0 { throw missingFrames(outcome) }
    let losses = losses(outcome, damagedAudio: damagedSide ?? damagedSidePackets)
    let warning = try warning(of: losses)
    if let error = outcome.error, error.code == .inputOutput,
      InputTrust.scheme(of: request.input) == nil
    {
      throw error
    }
    return warning
  }

  /// Returns a warning about losses; `nil` if there are none.
  ///
  /// - Throws: An error if losses are errors.
  func warning(of losses: [String]) throws(UprightError) -> String? {
    guard !losses.isEmpty else { return nil }
    if options.isStrict {
      throw UprightError(
        .badData, losses.joined(separator: "; "), at: request.input,
        remedy: "leave out --strict to keep what can be decoded")
    }
    return "the input is damaged: " + losses.joined(separator: "; ")
  }

  /// The number of packets of other tracks that could not be decoded.
  var damagedSidePackets: Int { sideTracks.map(\.damagedPackets).reduce(0, +) }

  /// Returns the error of a run without output frames.
  private func missingFrames(_ outcome: SourceOutcome) -> UprightError {
    if outcome.isStopped { return UprightError(.cancelled, "stopped", at: request.input) }
    if let error = outcome.error {
      guard error.remedy == Demuxer.keptRemedy else { return error }
      var unkept = UprightError(
        error.code, error.message, at: error.location, remedy: "there is no frame before it",
        cause: error.cause)
      unkept.library = error.library
      return unkept
    }
    if options.start != nil || options.end != nil, outcome.frames > 0 {
      return UprightError(
        .usage, "there are no frames in the requested part", at: request.input,
        remedy: request.returnsFrames ? "the video ends before it" : "check --start and --to")
    }
    return undecodable
  }

  /// The error of an input of which no frame can be decoded.
  var undecodable: UprightError {
    UprightError(
      .badData, "no frame can be decoded", at: request.input,
      remedy: "the input is damaged, or the linked FFmpeg can't decode its \(video.codecLabel)")
  }

  /// Returns what was lost from a damaged input, as texts for the user; empty if nothing was lost.
  private func losses(_ outcome: SourceOutcome, damagedAudio: Int) -> [String] {
    var losses: [String] = []
    func add(_ count: Int, _ one: String, _ what: String) {
      if count > 0 { losses.append("\(count.of(one)) \(what)") }
    }
    add(outcome.damagedPackets, "video packet", "could not be decoded")
    add(outcome.damagedFrames, "frame", "decoded with errors")
    add(outcome.misplacedFrames, "frame", "left out: the packets' timestamps are in another order")
    add(damagedAudio, "audio packet", "could not be decoded")
    if let error = outcome.error { losses.append(error.message) }
    add(outcome.undecodedPackets(of: video) ?? 0, "packet", "gave no frame")
    // The index lists more frames than the file has: the file is cut off.
    let missing = video.frameCount - outcome.videoPackets
    let isWhole = !outcome.isStopped && !outcome.isPartial && !outcome.isCut
    if missing > 0 && isWhole && !video.isAttachedPicture {
      losses.append("\(missing) of \(video.frameCount.of("frame")) are not in the file")
    }
    losses += demuxer.losses
    add(outcome.repairedTimestamps, "timestamp", "did not increase")
    return losses
  }
}
