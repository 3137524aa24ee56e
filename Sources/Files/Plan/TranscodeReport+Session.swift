internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightMediaIO

extension TranscodeReport {
  /// Creates the report of a session that has finished its output.
  ///
  /// - Parameters:
  ///   - output: What was written; `nil` if there is nothing.
  ///   - wall: The elapsed time in seconds.
  init(
    plan: SessionPlan, tally: FrameTally, output: OutputStage?, outcome: SourceOutcome,
    decisions: [RotationDecision], warnings: [String], wall: Double
  ) {
    self.init(
      input: Input(
        path: plan.request.input, codec: plan.video.codecName,
        size: (plan.source?.shape ?? plan.video.frameShape).shown, frames: outcome.frames,
        duration: plan.duration?.seconds),
      output: Output(
        named: plan.request.output, files: output?.files ?? [],
        // A format may differ from the one before it in its parameter sets alone.
        sizes: (output?.formats ?? []).map(\.size).reduce(into: []) { sizes, size in
          if sizes.last != size { sizes.append(size) }
        }, frames: tally.frames, copiedFrames: tally.copied,
        duration: tally.duration.seconds,
        dropped: plan.allDropped(frameMetadata: outcome.droppedMetadata)),
      formats: tally.changes, decisions: decisions, warnings: warnings,
      timing: Timing(
        wall: wall,
        stages: Stages(
          decode: outcome.seconds, orient: tally.orientSeconds, encode: tally.encodeSeconds)),
      stopped: plan.request.isStopped
        ? Stop(at: tally.duration.seconds, duration: plan.partDuration?.seconds) : nil)
  }
}

extension TranscodeReport.Input {
  init(path: String, video: StreamInfo, frames: Int, duration: MediaTime?) {
    self.init(
      path: path, codec: video.codecName, size: video.frameShape.shown, frames: frames,
      duration: duration?.seconds)
  }
}

extension TranscodeReport.Output {
  /// - Parameter files: The files that were written, if they differ from the output named `path`.
  init(
    named path: String, files: [String], sizes: [PixelSize], frames: Int, copiedFrames: Int,
    duration: Double, dropped: [String]
  ) {
    self.init(
      path: files.count == 1 ? files[0] : path, files: files.isEmpty ? [path] : files,
      sizes: sizes, frames: frames, copiedFrames: copiedFrames, duration: duration,
      dropped: dropped)
  }
}

extension TranscodeReport.Timing {
  /// Creates the timing of a run that ends now.
  init(wall: Double, stages: TranscodeReport.Stages = .init()) {
    self.init(wall: wall, cpu: Self.processorSeconds, stages: stages)
  }

  /// The user and system time of the process so far, in seconds.
  private static var processorSeconds: Double {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}
