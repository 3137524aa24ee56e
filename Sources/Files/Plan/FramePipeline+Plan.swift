internal import Orientation
internal import UprightContainers
package import UprightEncoding
internal import UprightPipeline

package extension FramePipeline {
  /// Creates a line for the input of a plan.
  ///
  /// - Parameter isWhole: Whether the line writes the whole track.
  convenience init(_ plan: SessionPlan, _ setup: Setup, isWhole: Bool = false) {
    self.init(
      Work(
        options: plan.options, stills: plan.stills, container: plan.container.rawValue,
        canFollow: plan.request.canFollow, timeBase: plan.videoTimeBase,
        settings: { plan.encoderSettings(first: $0, codec: $1, isWhole: isWhole) }), setup)
  }
}

extension FramePipeline.Setup {
  init(_ plan: SessionPlan) {
    self.init(
      keyframes: KeyframeClock(
        every: plan.container.isSegmented ? MediaTime(seconds: plan.options.segmentDuration) : nil))
  }
}
