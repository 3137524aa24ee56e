package import UprightOrientation
package import UprightPolicy
internal import UprightMediaIO

extension TranscodeOptions {
  /// Checks the options.
  ///
  /// - Throws: `usage` if options contradict each other or the container.
  package func check(for container: OutputContainer) throws(UprightError) {
    if let destination, !destination.containers.contains(container) {
      throw UprightError(
        .usage, "\(container.rawValue) is not for \(destination.rawValue)",
        at: "--for \(destination.rawValue)",
        remedy: "write " + destination.containers.map(\.rawValue).joined(separator: ", "))
    }
    if canvas == .follow && !container.canFollow && !splits {
      let remedy =
        container == .y4m
        ? "use --canvas portrait or landscape"
        : "use --canvas portrait or landscape, --split for one file per format, or write .mp4, .m3u8 or .ts"
      throw UprightError(
        .usage, "\(container.rawValue) cannot change its format mid-stream",
        at: "--canvas follow", remedy: remedy)
    }
    try checkRenditions()
    try checkCopying()
    let codec = codec ?? container.defaultCodec
    guard encoder == nil || encoder?.codec == codec else {
      throw UprightError(
        .usage, "the encoder and the codec are different", at: "--encoder",
        remedy: "give one of the two")
    }
    guard container.canCarry(codec) else {
      throw UprightError(
        .usage, "\(container.rawValue) cannot carry \(codec.rawValue)",
        at: "--codec \(codec.rawValue)",
        remedy: "use --codec \(container.defaultCodec.rawValue), or another container")
    }
    for rate in [rate] + ladder.map(rate(of:)) {
      try codec.check(
        speed: speed, rate: rate, options: encoderOptions,
        amongOthers: encodesAmongOthers, encoder: encoder)
    }
    for (value, name) in [(start, "--start"), (end, "--to")] {
      if let value, !(value.isFinite && value >= 0) {
        throw UprightError(.usage, "\(value) is not a time", at: name, remedy: "use 0 or more")
      }
    }
    if let start, let end, end <= start {
      throw UprightError(.usage, "--to \(end) is not after --start \(start)", at: "--to")
    }
    guard segmentDuration.isFinite, segmentDuration >= 0.1, segmentDuration <= 3600 else {
      throw UprightError(
        .usage, "segments of \(segmentDuration) s", at: "--segment", remedy: "use 0.1 to 3600")
    }
  }

  /// Whether the encoder works beside those of other live sessions, or of other canvases or sizes.
  package var encodesAmongOthers: Bool {
    isLive || canvas == .dual || ladder.count > 1 || encoder?.worksAmongOthers == true
  }

  /// Whether an HLS output has a multivariant playlist, and a media playlist for each rendition and the audio.
  package func isMultivariant(in container: OutputContainer) -> Bool {
    container.isSegmented && (canvas == .dual || !ladder.isEmpty)
  }

  /// - Throws: `usage` for a ladder in an output that has one size.
  package func checkLadder(for container: OutputContainer) throws(UprightError) {
    guard !ladder.isEmpty, !container.isSegmented else { return }
    throw UprightError(
      .usage, "\(container.rawValue) has one size", at: "--ladder",
      remedy: "write a playlist, such as -o out.m3u8, or use --size")
  }

  /// Returns the sizes of the stream if they are known before the first frame; `nil` to use the source's
  /// size.
  package func fixedGuidance(
    policy: StreamGuidance?, container: OutputContainer
  ) throws(UprightError) -> StreamGuidance? {
    if let rung = ladder.first {
      return StreamGuidance(encodeSize: rung.size, captureSize: captureSize)
    }
    switch size {
    case .pair(let pair): return StreamGuidance(encodeSize: pair, captureSize: captureSize)
    case .source: return nil
    case nil:
      if let policy {
        return StreamGuidance(
          encodeSize: policy.encodeSize, captureSize: captureSize ?? policy.captureSize)
      }
      guard container.isStreaming else { return nil }
      return StreamGuidance(
        encodeSize: StreamGuidance.standard.encodeSize, captureSize: captureSize)
    }
  }
}
