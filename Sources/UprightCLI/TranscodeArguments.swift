public import ArgumentParser
public import UprightOrientation
internal import UprightKernels
public import UprightFrames
public import UprightMediaIO
internal import UprightOrienting
public import UprightPipeline

/// The command-line options of `transcode`.
struct TranscodeArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The orientation of the input's frames: metadata, sensor[:DEGREES][,front][,mirror], upright.",
      valueName: "kind"))
  var frames = "metadata"

  @Option(
    help:
      "The output's shape: auto, follow, portrait, landscape, initial, majority, dual (portrait and landscape)."
  )
  var canvas = CanvasRule.auto

  @Option(help: "What frames are turned to: gravity (upright) or interface (the app orientation).")
  var reference: Reference?

  @Option(
    help:
      "How frames are placed on a canvas of another shape: fit, fill, blur, stretch. (default: fit; blur with --canvas dual)"
  )
  var fit: Fit?

  @Option(help: "The same on the portrait canvas of --canvas dual.")
  var portraitFit: Fit?

  @Option(help: "The same on the landscape canvas of --canvas dual.")
  var landscapeFit: Fit?

  @Option(help: "The part of a cropped frame that is kept: center, top, bottomLeading, ...")
  var anchor = Anchor.center

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long a crop takes to move to the point of a focus event.", valueName: "seconds"))
  var focusEase = 0.5

  @Option(help: ArgumentHelp("The colour around the frame.", valueName: "RRGGBB"))
  var background = "000000"

  @Option(
    help: ArgumentHelp(
      "A still picture that is shown while captureEnabledIn disables capture.", valueName: "file"),
    completion: .file())
  var slate: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A still picture over every frame: FILE@ANCHOR[:MARGIN][:WxH][:window]; repeatable.",
      valueName: "overlay"))
  var overlay: [String] = []

  @Flag(help: "Apply signals at any angle exactly, instead of rounding to a quarter turn.")
  var level = false

  @Option(
    help: ArgumentHelp(
      "WxH (either order), source, or a preset: 180p, 270p, 360p, 540p, 720p, 1080p.",
      valueName: "size"), completion: .size)
  var size: String?

  @Option(
    help: ArgumentHelp(
      "The sizes of an HLS output: 720p,360p or 1280x720:3M,640x360:crf=28. Instead of --size.",
      valueName: "rungs"))
  var ladder: [String] = []

  @Option(
    help: ArgumentHelp(
      "The landscape canvas of --canvas dual. (default: -o NAME.EXT writes NAME-portrait.EXT and NAME-landscape.EXT)",
      valueName: "output"), completion: .file())
  var landscapeOutput: String?

  @Option(
    help: ArgumentHelp(
      "The size that the app is told to capture. (default: the encoded size)", valueName: "WxH"))
  var captureSize: String?

  @Option(help: "The scaler: swscale, fused (rotates and scales in one pass), or auto.")
  var scaler = ScalerChoice.auto

  @Option(help: "h264, hevc, av1 or vp9. (default: the input's codec for files, h264 for streams)")
  var codec: VideoCodec?

  @Option(parsing: .unconditional, help: "Constant quality, on the encoder's scale.")
  var crf: Double?

  @Option(help: ArgumentHelp("Bits per second: 1500k, 2M.", valueName: "rate"))
  var bitrate: String?

  @Option(
    name: [.long, .customLong("preset")], parsing: .unconditional,
    help: ArgumentHelp("The encoder's preset.", valueName: "preset"))
  var speed: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The maximum number of frames between keyframes.", valueName: "frames"))
  var gop: Int?

  @Option(help: "live: one packet per frame, without delay; file: lookahead and B-frames.")
  var latency = Latency.file

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Threads of the decoder and of each encoder: 1 (one core) to 64. (default: automatic)",
      valueName: "n")
  )
  var threads: Int?

  @Option(
    help: ArgumentHelp("Further options of the encoder: k=v:k=v.", valueName: "options"))
  var encoderOptions: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The duration of an HLS segment. (default: 6; of a live stream: 2)", valueName: "seconds"))
  var segment: Double?

  @Option(help: "The container of HLS segments: fmp4 or ts.")
  var hlsSegments = SegmentKind.fmp4

  @Flag(
    help:
      "Write one file per format, for containers that can't change it: -o NAME.mkv writes NAME-0.mkv, NAME-1.mkv, ... (--canvas auto then means follow)."
  )
  var split = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The start of the output on the input's timeline.", valueName: "seconds"))
  var start: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The end of the output on the input's timeline.", valueName: "seconds"))
  var to: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Seconds that are added to every event's time.", valueName: "seconds"))
  var eventsOffset = 0.0

  @Option(
    help: ArgumentHelp(
      "The audio's Janus recording, if the input is one of video (.mjr).", valueName: "file"),
    completion: .file(extensions: ["mjr"]))
  var audio: String?

  @Option(help: "The constants for gravity events: android or iio (iio-sensor-proxy).")
  var gravity = GravityConstants.android

  @Option(help: "pixels: turn the frames; metadata: copy them and write the rotation as metadata.")
  var upright = UprightRule.pixels

  @Option(
    help: ArgumentHelp(
      "Encode frames that need no change: auto, always, never. (default: auto; always with --crf, --bitrate, --speed, --gop or --encoder-options)"
    ))
  var reencode: ReencodeRule?

  @Option(help: "The number of chunks of the input that are encoded in parallel, or auto.")
  var chunks = "1"

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The length of a chunk, 1 to 86400. (default: by the number of chunks; of a plan: 60)",
      valueName: "seconds"))
  var chunkSeconds: Double?

  @Flag(help: "Treat damage in the input as an error (exit code 65).")
  var strict = false

  @Flag(help: "Keep GPS positions in the metadata.")
  var keepLocation = false

  @Flag(help: "When stopped by Ctrl-C, keep the output's name instead of NAME.partial.EXT.")
  var keepPartial = false

  /// What is added to an output's name for its files, if it has two. An HLS output has its own name.
  var fileSuffixes: [String] {
    canvas == .dual && landscapeOutput == nil ? ["portrait", "landscape"] : []
  }

  /// Returns the options, checked.
  ///
  /// - Throws: `usage`, with the option as its location.
  func options(overwrites: Bool) throws(UprightError) -> TranscodeOptions {
    var options = TranscodeOptions()
    options.frames = try FrameKind(parsing: frames)
    options.canvas = canvas
    options.reference = reference
    options.fit = fit
    options.portraitFit = portraitFit
    options.landscapeFit = landscapeFit
    options.ladder = try Rung.ladder(parsing: ladder)
    options.landscapeOutput = landscapeOutput
    options.anchor = anchor
    options.focusEase = focusEase
    options.background = try RGBColour(parsing: background)
    options.slate = slate
    options.overlays = try overlay.map { (text) throws(UprightError) in try Overlay(parsing: text) }
    options.levels = level
    options.scaler = scaler
    options.codec = codec
    options.speed = speed
    options.gop = try positive(gop, "--gop")
    options.isLive = latency == .live
    options.threads = try positive(threads, "--threads") ?? 0
    if options.threads > TranscodeOptions.maxThreads {
      throw UprightError(
        .usage, "\(options.threads) is too many", at: "--threads",
        remedy: "use 1 to \(TranscodeOptions.maxThreads)")
    }
    options.encoderOptions = try TranscodeOptions.encoderOptions(parsing: encoderOptions ?? "")
    if let segment { options.segmentDuration = segment }
    options.segments = hlsSegments
    options.splits = split
    options.start = start
    options.end = to
    guard eventsOffset.isFinite else {
      throw UprightError(.usage, "\(eventsOffset) is not a time", at: "--events-offset")
    }
    options.eventsOffset = eventsOffset
    options.gravity = gravity.configuration
    options.audio = audio
    options.isStrict = strict
    options.upright = upright
    options.reencode = reencode ?? .auto
    options.copiesWhatFits = reencode == .auto
    options.chunks = try ChunkRule(parsing: chunks)
    if let chunkSeconds {
      guard TranscodeOptions.chunkDurations.contains(chunkSeconds) else {
        throw UprightError(
          .usage, "\(chunkSeconds) s is not the length of a chunk", at: "--chunk-seconds",
          remedy: "use 1 to 86400")
      }
      options.chunkDuration = chunkSeconds
    }
    options.keepsLocation = keepLocation
    options.keepsPartial = keepPartial
    options.overwrites = overwrites
    if let captureSize {
      options.captureSize = try PixelSize(encoding: captureSize, at: "--capture-size")
    }
    if let size { try options.setSize(size) }
    options.rate = try VideoEncoder.RateControl(crf: crf, bitrate: bitrate) ?? options.rate
    return options
  }

  private func positive(_ value: Int?, _ name: String) throws(UprightError) -> Int? {
    if let value, value < 1 {
      throw UprightError(.usage, "\(value) is too few", at: name, remedy: "give 1 or more")
    }
    return value
  }
}

extension UprightRule: ExpressibleByArgument {}
extension ReencodeRule: ExpressibleByArgument {}
extension CanvasRule: ExpressibleByArgument {}
extension ScalerChoice: ExpressibleByArgument {}
extension Reference: ExpressibleByArgument {}
extension Fit: ExpressibleByArgument {}
extension SegmentKind: ExpressibleByArgument {}
extension Latency: ExpressibleByArgument {}
extension GravityConstants: ExpressibleByArgument {}
extension Anchor: ExpressibleByArgument {}
extension VideoCodec: ExpressibleByArgument {
  /// Creates a codec from its name, or from a common name of the codec or its encoder.
  public init?(argument: String) { self.init(named: argument) }

  /// The names of the codecs that can be selected.
  public static var allValueStrings: [String] { selectable.map(\.rawValue) }
}
