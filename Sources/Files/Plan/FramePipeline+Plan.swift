internal import UprightOrientation
package import UprightMedia

package extension FramePipeline {
  /// Creates a line for the input of a plan.
  ///
  /// - Parameters:
  ///   - canvas: The index of the line's canvas.
  ///   - isWhole: Whether the line writes the whole track.
  convenience init(
    _ plan: SessionPlan, _ setup: Setup, canvas: Int = 0, isWhole: Bool = false
  ) {
    self.init(
      Work(
        options: plan.options, fit: plan.options.fit(on: plan.canvases[canvas]),
        stills: plan.stills, container: plan.container.rawValue,
        canFollow: plan.request.canFollow, timeBase: plan.videoTimeBase,
        settings: { plan.encoderSettings(first: $0, codec: $1, isWhole: isWhole) }), setup)
  }
}

extension FramePipeline.Setup {
  init(_ plan: SessionPlan) {
    self.init(keyframes: KeyframeClock(every: plan.keyframeInterval))
  }
}

extension SessionPlan {
  /// The distance of forced keyframes; `nil` if the encoder alone decides.
  var keyframeInterval: MediaTime? {
    if container.isSegmented { return MediaTime(seconds: options.segmentDuration) }
    let isEven = !container.hasIndex || options.destination?.hasKeyframes == true
    return isEven && options.gop == nil ? MediaTime(1, .one) : nil
  }

  /// Returns the index of a canvas's largest rendition.
  func firstRendition(of canvas: Int) -> Int { canvas * max(1, options.ladder.count) }

  /// Returns the encoders of a canvas's smaller renditions, whose packets go to `output`.
  func rungs(of canvas: Int, _ output: OutputStage) -> [RungEncoder] {
    let first = firstRendition(of: canvas)
    return options.ladder.enumerated().dropFirst().map { index, rung in
      RungEncoder(size: rung.size, rate: options.rate(of: rung)) {
        (packet, format) throws(UprightError) in
        try output.writeFrame(packet, format: format, rendition: first + index)
      }
    }
  }
}
