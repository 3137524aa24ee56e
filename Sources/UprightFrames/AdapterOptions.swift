public import PixelKernels

/// How a `FrameAdapter` decides and draws. Every value has a default.
public struct AdapterOptions: Sendable {
  /// The rotation policy.
  public var policy = PolicyDocument()
  /// Which way up the frames are.
  public var frames = FrameKind.metadata
  /// What frames are laid out for; `nil`: `interface` for sensor frames, else `gravity`.
  public var reference: Reference?
  /// Which shape the output has.
  public var canvas = FrameCanvas.follow
  /// The encoded size, in either order of width and height; `nil`: the policy's, else 720x1280.
  public var size: PixelSize?
  /// How a frame is placed on a canvas of another shape. `blur` isn't available here.
  public var fit = Fit.fit
  /// Which part stays when `fit` crops, and where a frame is placed when there is room left over.
  public var anchor = Anchor.center
  /// The colour around a frame that doesn't fill the canvas.
  public var background = RGBColour.black
  /// The kernel that frames are rescaled with.
  public var filter = ResampleFilter.bicubic
  /// How `gravity` events are classified.
  public var gravity = GravityClassifier.Configuration.android

  /// The defaults.
  public init() {}
}

/// Which shape the output of a `FrameAdapter` has.
public enum FrameCanvas: Sendable, Hashable {
  /// The app orientation that the policy decides.
  case follow
  /// Tall, whatever the policy decides.
  case portrait
  /// Wide, whatever the policy decides.
  case landscape
  /// Fixed at what the first frame gets.
  case initial
}
