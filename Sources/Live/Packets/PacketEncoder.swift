internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Decides, turns and encodes the frames of a `PacketSession`. Used by one thread.
///
/// Sendable by hand-over: it is created on one thread and used on another, never on both.
final class PacketEncoder: @unchecked Sendable {
  typealias Emit = (PacketOutput) -> Void

  private let inbox: EventInbox
  private let codec: VideoDescription.Codec
  private let timeBase: Rational
  private var director: FrameDirector
  private let pipeline: FramePipeline
  private let state = State()
  /// The time of the last frame.
  private var last = MediaTime.zero

  /// What the pipeline's closures share with this object.
  private final class State {
    /// The changes whose first packet has not come yet.
    var changes: [FormatChange] = []
    var description: VideoDescription?
    var wantsKeyframe = false
  }

  init(
    _ encoding: EncodeOptions, _ options: AdapterOptions, _ inbox: EventInbox, timeBase: Rational
  ) throws(UprightError) {
    guard let codec = VideoDescription.Codec(rawValue: encoding.codec.rawValue) else {
      throw UprightError(
        .usage, "\(encoding.codec) has no packets", at: "codec", remedy: "use h264")
    }
    try encoding.codec.check(
      speed: encoding.speed, rate: encoding.rate, options: encoding.encoderOptions,
      amongOthers: true)
    self.codec = codec
    self.inbox = inbox
    self.timeBase = timeBase
    director = try FrameDirector(options, signalsAreEvents: true)
    let transcoding = TranscodeOptions(encoding, options)
    var setup = FramePipeline.Setup(
      keyframes: KeyframeClock(every: MediaTime(seconds: encoding.keyframeSeconds)))
    setup.observe = { [state] update in
      if case .format(let change) = update { state.changes.append(change) }
    }
    setup.wantsKeyframe = { [state] in
      defer { state.wantsKeyframe = false }
      return state.wantsKeyframe
    }
    pipeline = FramePipeline(
      FramePipeline.Work(
        options: transcoding, fit: options.fit, stills: try SessionStills(transcoding),
        container: "a packet stream", canFollow: true, timeBase: timeBase,
        settings: { frame, _ in
          var settings = VideoEncoder.Settings(shared: encoding.codec, frame, timeBase)
          (settings.frameRate, settings.rate) = (encoding.frameRate, encoding.rate)
          (settings.speed, settings.options) = (encoding.speed, encoding.encoderOptions)
          // Keyframes are requested by time.
          settings.gop = 1 << 16
          return settings
        }), setup)
  }

  func requestKeyframe() { state.wantsKeyframe = true }

  /// Processes one frame and emits what the encoder returns.
  func encode(
    _ frame: consuming VideoFrame, _ signal: OrientationSignal?, _ emit: Emit
  ) throws(UprightError) {
    guard let pts = frame.pts else { throw UprightError(.fault, "a frame without a timestamp") }
    let time = max(MediaTime(pts, frame.timeBase), last)
    let seconds = time.seconds
    let events = inbox.take(upTo: seconds)
    last = time
    for event in events {
      do throws(UprightError) { try director.push(event) } catch { emit(.refused(error)) }
    }
    let direction = try director.direct(at: seconds, size: frame.shape.shown, signal: signal?.turn)
    director.forget(before: seconds)
    for decision in director.takeEntries() { emit(.decision(decision)) }
    try pipeline.process(frame, direction, time) { (packet, format) throws(UprightError) in
      output(packet, format, emit)
    }
    pipeline.forgetChanges()
  }

  func finish(_ emit: Emit) throws(UprightError) {
    director.finish()
    for decision in director.takeEntries() { emit(.decision(decision)) }
    try pipeline.finish { (packet, format) throws(UprightError) in output(packet, format, emit) }
  }

  private func output(_ packet: borrowing Packet, _ format: EncodedFormat?, _ emit: Emit) {
    if let format {
      state.description = VideoDescription(codec, size: format.size, format.parameters)
    }
    if let description = state.description {
      for change in state.changes { emit(.format(change, description)) }
      state.changes.removeAll()
    }
    emit(.packet(EncodedPacket(packet, track: .video)))
  }
}

extension TranscodeOptions {
  /// The options of a packet session as the pipeline reads them.
  fileprivate init(_ encoding: EncodeOptions, _ options: AdapterOptions) {
    self.init()
    frames = options.frames
    reference = options.reference
    fit = options.fit
    anchor = options.anchor
    background = options.background
    filter = Scaler.Filter(options.filter)
    codec = encoding.codec
    rate = encoding.rate
    speed = encoding.speed
    encoderOptions = encoding.encoderOptions
    gravity = options.gravity
    isLive = true
  }
}

extension Scaler.Filter {
  /// The filter of the same name.
  fileprivate init(_ filter: ResampleFilter) {
    self =
      switch filter {
      case .bicubic: .bicubic
      case .bilinear: .bilinear
      case .area: .area
      case .lanczos: .lanczos
      }
  }
}
