internal import UprightOrientation
internal import UprightEncoding
internal import UprightMediaIO
internal import UprightPipeline

/// How a part is encoded.
extension InputParts {
  /// The number of threads of a decoder or an encoder; 0 lets it choose.
  func threads(_ plan: SessionPlan) -> Int {
    if plan.options.threads > 0 || concurrency == 1 { return plan.options.threads }
    return max(1, Processors.count / concurrency)
  }

  /// Returns the setup of the pipeline that encodes a part.
  ///
  /// - Parameter clock: The part's keyframe clock.
  func setup(_ plan: SessionPlan, part: Int, clock: KeyframeClock) -> FramePipeline.Setup {
    var setup = FramePipeline.Setup(plan)
    setup.codec = codec
    setup.keyframes = clock
    let (join, threads) = (join, threads(plan))
    setup.adapt = { wanted in
      var settings = join?.settings(wanted) ?? wanted
      settings.threads = threads
      return settings
    }
    let canvas = canvas(at: parts[part].frames.lowerBound)
    let isShared = join != nil && canvas.size == plan.video.parameters.size
    setup.canvas = isShared ? (canvas.size, .up) : canvas
    return setup
  }
}
