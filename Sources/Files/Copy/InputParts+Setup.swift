internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// How a part is encoded.
extension InputParts {
  /// The number of threads of a decoder or an encoder; 0 lets it choose.
  func threads(_ plan: SessionPlan) -> Int {
    if plan.options.threads > 0 || concurrency == 1 { return plan.options.threads }
    return max(1, Processors.count / concurrency)
  }

  /// Returns the setup of the pipeline that encodes a part, or some frames of it.
  ///
  /// - Parameters:
  ///   - first: The index of the first frame.
  ///   - clock: The keyframe clock at that frame.
  func setup(_ plan: SessionPlan, from first: Int, clock: KeyframeClock) -> FramePipeline.Setup {
    var setup = FramePipeline.Setup(plan)
    setup.codec = codec
    setup.keyframes = clock
    let (join, threads) = (join, threads(plan))
    setup.adapt = { wanted in
      var settings = join?.settings(wanted) ?? wanted
      settings.threads = threads
      return settings
    }
    let canvas = canvas(at: first)
    let isShared = join != nil && canvas.size == plan.video.parameters.size
    setup.canvas = isShared ? (canvas.size, .up) : canvas
    return setup
  }
}
