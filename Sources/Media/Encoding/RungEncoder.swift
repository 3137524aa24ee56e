package import UprightOrientation
internal import UprightPolicy
package import UprightMediaIO

/// A smaller encode of a pipeline's frames: a lower rung of a ladder.
///
/// Each frame is scaled from the finished one, not again from the source: overlays, margins and transitions
/// are then drawn once and look the same on all rungs, and the frame to be read is smaller. The loss is small:
/// the finished frame is at least as large, and both passes filter what they leave out. Used by one thread.
package final class RungEncoder {
  private let size: PixelSize
  private var rate: VideoEncoder.RateControl
  private let emit: FramePipeline.Emit
  private var stages: (scaler: FrameOrienter, chain: EncoderChain)?
  /// Whether frames are encoded. While it isn't set, the rung costs nothing.
  package var isActive = true

  /// - Parameters:
  ///   - size: The size, in either order of width and height.
  ///   - emit: Receives the packets.
  package init(
    size: PixelSize, rate: VideoEncoder.RateControl, emit: @escaping FramePipeline.Emit
  ) {
    self.size = size
    self.rate = rate
    self.emit = emit
  }

  /// Changes the rate control from the next frame on.
  package func change(_ rate: VideoEncoder.RateControl) {
    self.rate = rate
    stages?.chain.change(rate)
  }

  /// What a rung is opened with.
  struct Opening {
    /// The encoder settings of the first rung.
    let settings: VideoEncoder.Settings
    /// Whether the output accepts new parameter sets.
    let followsColour: Bool
    /// How frames are scaled.
    let layout: FrameOrienter.Layout
  }

  /// Scales and encodes a finished frame. Where that begins a format, so does this rung.
  ///
  /// - Returns: The seconds that scaling and encoding took.
  func encode(
    _ frame: borrowing VideoFrame, _ opening: Opening
  ) throws(UprightError) -> (scaling: Double, encoding: Double) {
    let stages = self.stages ?? open(opening)
    self.stages = stages
    let start = ContinuousClock.now
    let canvas = size.laidOut(wide: frame.size.isLandscape)
    let placement = stages.scaler.placement(
      of: frame.size, sampleAspectRatio: .one, turn: .up, canvas: canvas)
    var scaled = try stages.scaler.orient(frame, by: placement)
    scaled.forcesKeyframe = frame.forcesKeyframe
    let scaling = start.secondsUntilNow
    try stages.chain.encode(scaled, emit: emit)
    return (scaling, start.secondsUntilNow - scaling)
  }

  private func open(_ opening: Opening) -> (scaler: FrameOrienter, chain: EncoderChain) {
    var settings = opening.settings
    settings.rate = rate
    return (
      FrameOrienter(format: settings.format, layout: opening.layout),
      EncoderChain(settings, followsColour: opening.followsColour)
    )
  }

  /// Emits all remaining packets. Frames may follow; they begin a new stream.
  package func finish() throws(UprightError) {
    let stages = self.stages
    self.stages = nil
    try stages?.chain.finish(emit: emit)
  }
}
