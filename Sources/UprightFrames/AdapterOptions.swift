public import UprightKernels

/// How a `FrameAdapter` decides and draws. Every value has a default.
public struct AdapterOptions: Sendable {
  /// The rotation policy.
  public var policy = PolicyDocument()
  /// Which way up the frames are.
  public var frames = FrameKind.metadata
  /// What frames are laid out for; `nil`: `interface` for sensor frames, else `gravity`.
  public var reference: Reference?
  /// Which shape the output has; `nil`: `follow`, but `frame` for a `FrameAdapter` that is given no size either,
  /// here or in the policy, if the frames aren't those of a sensor.
  public var canvas: FrameCanvas?
  /// The encoded size, in either order of width and height; `nil`: the policy's, else 720x1280.
  public var size: PixelSize?
  /// How a frame is placed on a canvas of another shape. `blur` isn't available here.
  public var fit = Fit.fit
  /// Which part stays when `fit` crops, and where a frame is placed when there is room left over.
  public var anchor = Anchor.center
  /// How long the crop of `fill` takes to move to the point of a `focus` event, in seconds: 0 to 60.
  public var focusEase = 0.5
  /// The colour around a frame that doesn't fill the canvas.
  public var background = RGBColour.black
  /// The kernel that frames are rescaled with.
  public var filter = ResampleFilter.bicubic
  /// How `gravity` events are classified.
  public var gravity = GravityClassifier.Configuration.android

  /// The defaults.
  public init() {}

  /// The options of an adapter, whose host has no canvas of its own unless it says so.
  var forFrames: AdapterOptions {
    var options = self
    if case .sensor = frames { return options }
    if canvas == nil, size == nil, policy.stream == nil { options.canvas = .frame }
    return options
  }

  /// - Throws: `usage` for an option that is invalid, or two that contradict each other.
  func check() throws(UprightError) {
    guard fit != .blur else {
      throw UprightError(
        .usage, "blur is not available for frames in memory", at: "fit",
        remedy: "use fit, fill or stretch")
    }
    if let size { _ = try PixelSize(encoding: "\(size)", at: "size") }
    guard FocusRule.durations.contains(focusEase) else {
      throw UprightError(
        .usage, "\(focusEase) s is not a duration", at: "focusEase", remedy: "use 0 to 60 seconds")
    }
    guard case .sensor(let camera) = frames, ![0, 90, 180, 270].contains(camera.sensorOrientation)
    else { return }
    throw UprightError(
      .usage, "a sensor at \(camera.sensorOrientation) degrees", at: "frames",
      remedy: "use 0, 90, 180 or 270")
  }
}

extension PixelSize {
  /// The longest side of a frame in memory.
  static let longestSide = 65535
}

/// The shape of the canvas that frames are drawn on.
public enum FrameCanvas: Sendable, Hashable {
  /// That of the app orientation, which the policy decides.
  case follow
  /// Landscape or portrait, whatever the app orientation is.
  case fixed(isLandscape: Bool)
  /// Fixed to the shape at the first frame.
  case initial
  /// The upright frame itself, whatever its size and the app orientation are.
  case frame

  /// Portrait, whatever the app orientation is.
  public static let portrait = FrameCanvas.fixed(isLandscape: false)
  /// Landscape, whatever the app orientation is.
  public static let landscape = FrameCanvas.fixed(isLandscape: true)
}
