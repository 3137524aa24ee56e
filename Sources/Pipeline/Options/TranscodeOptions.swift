public import Orientation
public import UprightMediaIO

/// All that a transcode can be told; every value has a default (spec 3).
public struct TranscodeOptions: Sendable {
  /// Which way up the frames are.
  public var frames = FrameKind.metadata
  /// Which shape the output has.
  public var canvas = CanvasRule.auto
  /// What the picture is laid out for; nil: upright, except for sensor frames.
  public var reference: Reference?
  /// How the picture meets a canvas of another shape.
  public var fit = Fit.fit
  /// Which part stays when `fit` crops.
  public var anchor = Anchor.center
  /// What stands beside a picture that does not fill the canvas.
  public var background = RGBColour.black
  /// A still picture's file that is shown while the camera is not sent; nil: the last frame stands.
  public var slate: String?
  /// Pictures that are laid over every frame, the lowest first.
  public var overlays: [Overlay] = []
  /// Whether signals whose angle is no multiple of 90 degrees are followed to the degree; else the
  /// nearest quarter turn stands.
  public var levels = false
  /// The encoded size; nil: the policy's, else the output container's default.
  public var size: SizeRule?
  /// The size the app is told; nil: the encoded size.
  public var captureSize: PixelSize?
  /// The codec; nil: H.264, or what the container takes.
  public var codec: VideoCodec?
  /// How bits are spent.
  public var rate = VideoEncoder.RateControl.constantQuality(nil)
  /// The encoder's own preset name.
  public var speed: String?
  /// Frames between keyframes at most; nil: the encoder's, or a segment's length.
  public var gop: Int?
  /// Whether a packet comes out for every frame that goes in.
  public var isLive = false
  /// The encoder's own options by name.
  public var encoderOptions: [String: String] = [:]
  /// The kernel that pictures are rescaled with.
  public var filter = Scaler.Filter.bicubic
  /// What rescales them.
  public var scaler = ScalerChoice.auto
  /// Seconds of an HLS segment.
  public var segmentDuration = 6.0
  /// What HLS segments are made of.
  public var segments = SegmentKind.fmp4
  /// Whether each format has a file of its own.
  public var splits = false
  /// Seconds on the media timeline at which the output begins.
  public var start: Double?
  /// Seconds on the media timeline at which the output ends.
  public var end: Double?
  /// The constants by which `gravity` events are read.
  public var gravity = GravityClassifier.Configuration.android
  /// Added to every event's time, in seconds.
  public var eventsOffset = 0.0
  /// The Janus recording of the sound that belongs to a recording of pictures; nil: none.
  public var sound: String?
  /// Whether damage in the input is an error.
  public var isStrict = false
  /// Whether GPS positions stay in the metadata.
  public var keepsLocation = false
  /// Whether pixels are turned, or the output says how they must be.
  public var upright = UprightRule.pixels
  /// Whether pictures that need no change are encoded.
  public var reencode = ReencodeRule.auto
  /// Whether frames that need no change are copied although options for the encoder are given: they are for
  /// the others.
  public var copiesWhatFits = false
  /// Threads of the decoder and of each encoder; 0: as many as they choose by the cores. With 1 they
  /// take turns, on one core. What an encoder writes depends on it in the last bits.
  public var threads = 0
  /// How many chunks of the clip are encoded at a time.
  public var chunks = ChunkRule.count(1)
  /// Whether the output of a run that was stopped gets the name it was to have; otherwise it is
  /// `NAME.partial.EXT`.
  public var keepsPartial = false
  /// Whether an output that is there already may be replaced.
  public var overwrites = false

  /// The defaults.
  public init() {}
}

/// Which way up a frame is (`--frames`).
public enum FrameKind: Sendable, Hashable {
  /// Signals in the stream say how the picture must be turned.
  case metadata
  /// Raw sensor frames: the turn follows from how the device is held.
  case sensor(Camera)
  /// Upright already, whatever a signal says.
  case upright
}

/// What HLS segments are made of (`--hls-segments`).
public enum SegmentKind: String, Sendable, CaseIterable {
  /// Fragmented MP4.
  case fmp4
  /// MPEG-TS.
  case ts
}

/// Which shape the output has (`--canvas`).
public enum CanvasRule: String, Sendable, CaseIterable {
  /// By the container: `follow` for streams, `majority` for files.
  case auto
  /// The app orientation that the policy decided.
  case follow
  case portrait
  case landscape
  /// Fixed at the first frame's.
  case initial
  /// Fixed at the one that lasts longest.
  case majority
}

/// What the picture is laid out for (`--reference`).
public enum Reference: String, Sendable, CaseIterable {
  /// Always upright.
  case gravity
  /// The app orientation, as the app itself would send it.
  case interface
}

/// The encoded size (`--size`).
public enum SizeRule: Sendable, Hashable {
  /// The source's upright size, rounded down to even.
  case source
  /// A fixed pair; the canvas says which of the two is the width.
  case pair(PixelSize)
}
