public import UprightOrientation
public import UprightKernels
public import UprightFrames
public import UprightMediaIO

/// The options of a transcode. Every option has a default.
public struct TranscodeOptions: Sendable {
  /// How the input frames are oriented.
  public var frames = FrameKind.metadata
  /// Who plays the output; `nil` for anybody. It decides what the other options leave open.
  public var destination: Destination?
  /// The shape of the output.
  public var canvas = CanvasRule.auto
  /// What the frames are oriented to; `nil` for `gravity`, or for `interface` if the frames are sensor
  /// frames.
  public var reference: Reference?
  /// How a frame is fitted into a canvas of another shape; `nil` for `fit`, or `blur` on two canvases.
  public var fit: Fit?
  /// The same on the portrait canvas of `dual`; `nil` for `fit`.
  public var portraitFit: Fit?
  /// The same on the landscape canvas of `dual`; `nil` for `fit`.
  public var landscapeFit: Fit?
  /// Which part of the frame is kept when `fit` crops.
  public var anchor = Anchor.center
  /// How long the crop of `fill` takes to move to the point of a `focus` event, in seconds: 0 to 60.
  public var focusEase = 0.5
  /// The colour beside a frame that does not fill the canvas.
  public var background = RGBColour.black
  /// The path of a still picture that is shown while the camera is off; `nil` to repeat the last frame.
  public var slate: String?
  /// The overlays that are drawn over every frame, the lowest first.
  public var overlays: [Overlay] = []
  /// Whether signals whose angle is not a multiple of 90 degrees are followed to the degree. If `false`, the
  /// nearest quarter turn is used.
  public var levels = false
  /// The encoded size; `nil` for the size in the policy, or else the output container's default.
  public var size: SizeRule?
  /// The sizes that an HLS output has, the largest first; empty for one, `size`. All have the same cuts and
  /// timestamps, and the audio is a rendition of its own. Smaller rungs are scaled from the finished frames of
  /// the largest one, so that overlays, margins and transitions look the same on all of them.
  public var ladder: [Rung] = []
  /// Where the landscape canvas of `dual` is written, if the output isn't HLS; `nil` for a file beside the
  /// output: `NAME-portrait.EXT` and `NAME-landscape.EXT`. With it, the output is the portrait canvas, under
  /// its own name. A stream needs it.
  public var landscapeOutput: String?
  /// Whether an HLS output of `dual` has a playlist of both canvases, beside one for each.
  public var hasCommonPlaylist = false
  /// The capture size that is reported to the app; `nil` for the encoded size.
  public var captureSize: PixelSize?
  /// The codec; `nil` for H.264, or the codec that the container takes.
  public var codec: VideoCodec?
  /// The encoder by FFmpeg's name, of `codec`; `nil` for the codec's usual one. Setting it sets `codec`.
  public var encoder: NamedEncoder? {
    didSet { if let encoder { codec = encoder.codec } }
  }
  /// The rate control of the encoder.
  public var rate = VideoEncoder.RateControl.constantQuality(nil)
  /// The name of the encoder's preset.
  public var speed: String?
  /// The maximum number of frames between keyframes; `nil` for the encoder's default, the length of a segment, or a
  /// second in a container without an index.
  public var gop: Int?
  /// The constant rate of the output's frames, of a file; `nil` if each frame keeps its time, or for that of
  /// `destination`. Frames are repeated and left out, and all are encoded, unless the input has that rate.
  public var constantRate: ConstantRate?
  /// Whether the encoder returns a packet for every frame, with no delay.
  public var isLive = false
  /// Options of the encoder, by name.
  public var encoderOptions: [String: String] = [:]
  /// The filter for rescaling.
  public var filter = Scaler.Filter.bicubic
  /// The scaler.
  public var scaler = ScalerChoice.auto
  /// The length of an HLS segment, in seconds.
  public var segmentDuration = 6.0
  /// The format of HLS segments.
  public var segments = SegmentKind.fmp4
  /// Whether each format is written to a separate file.
  public var splits = false
  /// Where the output begins, in seconds on the media timeline; `nil` for the start of the input.
  public var start: Double?
  /// Where the output ends, in seconds on the media timeline; `nil` for the end of the input.
  public var end: Double?
  /// The constants for classifying `gravity` events.
  public var gravity = GravityClassifier.Configuration.android
  /// The offset in seconds that is added to the time of every event.
  public var eventsOffset = 0.0
  /// The Janus recording of the audio that belongs to a Janus recording of video; `nil` if there is none.
  public var audio: String?
  /// Whether damaged input is an error.
  public var isStrict = false
  /// Whether GPS positions are kept in the metadata.
  public var keepsLocation = false
  /// Whether the pixels are turned, or metadata in the output tells players how to turn the frames.
  public var upright = UprightRule.pixels
  /// Whether frames that need no change are encoded.
  public var reencode = ReencodeRule.auto
  /// Whether frames that need no change are copied even if encoder options are given; those options then
  /// apply only to the frames that are encoded.
  public var copiesWhatFits = false
  /// The number of threads of the decoder and of each encoder; 0 lets each choose by the number of cores.
  /// With 1 they run one after the other, on one core. The encoded bits differ slightly between thread
  /// counts.
  public var threads = 0
  /// How many chunks of the input are encoded in parallel.
  public var chunks = ChunkRule.count(1)
  /// The length of a chunk in seconds, 1 to 86400; `nil` for one that suits `chunks`. A chunk ends at the first
  /// entry point of the input after that time. With it, the chunks and so the output are the same for any
  /// `chunks`, if `threads` is too.
  public var chunkDuration: Double?
  /// Whether the output of a stopped run is kept under the requested name; otherwise it is named
  /// `NAME.partial.EXT`.
  public var keepsPartial = false
  /// Whether an existing output file may be replaced.
  public var overwrites = false

  /// Creates the default options.
  public init() {}
}

/// The format of HLS segments (`--hls-segments`).
public enum SegmentKind: String, Sendable, CaseIterable {
  /// Fragmented MP4.
  case fmp4
  /// MPEG-TS.
  case ts
}

/// The shape of the output (`--canvas`).
public enum CanvasRule: String, Sendable, CaseIterable, Codable {
  /// Chosen by the container: `follow` for streams, `majority` for files.
  case auto
  /// The shape of the app orientation that the policy decided. The canvas changes with it.
  case follow
  /// Fixed to portrait.
  case portrait
  /// Fixed to landscape.
  case landscape
  /// Fixed to the shape at the first frame.
  case initial
  /// Fixed to the shape that lasts longest.
  case majority
  /// Two canvases at once, one fixed to portrait and one to landscape. Their formats never change.
  case dual
}

/// The encoded size (`--size`).
public enum SizeRule: Sendable, Hashable {
  /// The upright size of the source, rounded down to even numbers.
  case source
  /// A fixed pair of sides. The canvas decides which of the two is the width.
  case pair(PixelSize)
}
