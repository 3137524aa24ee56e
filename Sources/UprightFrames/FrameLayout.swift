public import UprightKernels

/// What a frame is like, apart from its samples.
public struct FrameFormat: Sendable, Hashable {
  /// How the samples are stored.
  public var layout: PixelLayout
  /// The size in pixels, as stored.
  public var size: PixelSize
  /// The width of a stored pixel over its height.
  public var sampleAspectRatio = Rational.one
  /// Where chroma is.
  public var chroma = ChromaPosition.left
  /// The matrix and range of YUV samples, for the background's colour.
  public var colour = ColourCoding.bt601

  /// Frames of `size` with square pixels and H.264's chroma position.
  public init(_ layout: PixelLayout, _ size: PixelSize) {
    self.layout = layout
    self.size = size
  }
}

/// What becomes of one frame: ask `FrameAdapter.layout` for it, have a buffer of that format at hand, and
/// hand both to `draw`.
public struct FrameLayout: Sendable, Hashable {
  /// The stream's format, with the orientation of the app.
  public let format: StreamFormat
  /// The buffer that `draw` fills. Where it differs from the last frame's, the encoder has to be opened anew.
  public let target: FrameFormat
  /// What turns the stored frame upright.
  public let turn: ImageOrientation
  /// Which part of the frame is shown, and where on the canvas.
  public let placement: Placement
  /// Whether the camera is sent (`captureEnabledIn`). If it isn't, `draw` fills the buffer with the
  /// background.
  public let isCaptureEnabled: Bool
  /// What the frame that is drawn must be like.
  let source: FrameFormat
  /// The planes that are drawn, of which those of `target` are made.
  let drawn: FrameFormat

  /// Whether the upright frame is the stored one: there is nothing to draw, and a host passes its frame on.
  public var isIdentity: Bool {
    turn == .up && isCaptureEnabled && target == source && placement.isExact
      && placement.coversCanvas
  }
}
