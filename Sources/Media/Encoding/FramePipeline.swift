package import UprightOrientation
internal import UprightPolicy
package import UprightFrames
package import UprightMediaIO

/// Turns decoded frames into packets: converts them to planar formats, deinterlaces, lays out and encodes
/// them. Frames come in presentation order, each with its `FrameDirection`. Used by one thread.
package final class FramePipeline {
  /// Receives one packet; `format` is passed with the first packet of each encoder.
  package typealias Emit = (consuming Packet, EncodedFormat?) throws(UprightError) -> Void

  /// The parts of a session that this class needs.
  package struct Work {
    var options: TranscodeOptions
    /// How frames are fitted into the canvas.
    var fit: Fit
    var stills: SessionStills
    /// The name of the output in messages.
    let container: String
    /// Whether the output accepts new parameter sets.
    let canFollow: Bool
    /// Seconds per tick of the frames' timestamps from the encoders on.
    let timeBase: Rational
    /// Returns the encoder settings for the first frame and the requested codec.
    let settings: (borrowing VideoFrame, VideoCodec?) -> VideoEncoder.Settings

    package init(
      options: TranscodeOptions, fit: Fit, stills: SessionStills, container: String,
      canFollow: Bool, timeBase: Rational,
      settings: @escaping (borrowing VideoFrame, VideoCodec?) -> VideoEncoder.Settings
    ) {
      self.options = options
      self.fit = fit
      self.stills = stills
      self.container = container
      self.canFollow = canFollow
      self.timeBase = timeBase
      self.settings = settings
    }
  }

  /// Optional settings.
  package struct Setup {
    /// Receives the frames in place of encoders.
    package var tap: (any FrameTap)?
    /// The codec; `nil` for the codec of the plan.
    package var codec: VideoCodec?
    /// Adjusts the encoder settings.
    package var adapt: (VideoEncoder.Settings) -> VideoEncoder.Settings = { $0 }
    /// Decides when keyframes are forced.
    package var keyframes: KeyframeClock
    /// The first canvas, and the turn that decides the chroma siting on it, whatever the turn of the first
    /// frame is.
    package var canvas: (size: PixelSize, turn: ImageOrientation)?
    /// Returns whether the next frame must be a keyframe, whatever `keyframes` decides.
    package var wantsKeyframe: () -> Bool = { false }
    /// Converts the frames; `nil` for a preparation of its own. Pipelines that take the same frames share one.
    package var preparation: FramePreparation?
    /// Called for each new format.
    package var observe: (SessionUpdate) -> Void = { _ in }

    package init(keyframes: KeyframeClock) { self.keyframes = keyframes }
  }

  /// The stages that are made with the first frame.
  private struct Stages {
    let orienter: FrameOrienter
    let fields: DeinterlacingStage
    let compositor: FrameCompositor
    let chain: EncoderChain
    let rungs: RungEncoder.Opening
  }

  private var work: Work
  private var setup: Setup
  private let preparation: FramePreparation
  /// Whether HDR frames are tone-mapped to SDR; `nil` before the first HDR frame.
  private var mapsTones: Bool?
  private var stages: Stages?
  private var noted: [String] = []
  /// What the encoded frames lack of the decoded ones, as texts for the user.
  package private(set) var losses: Set<String> = []
  private var losesCaptions = false
  private var wantsExtraKeyframe = false
  /// The lower rungs of the ladder, which follow the formats and keyframes of this pipeline's own encode.
  package var rungs: [RungEncoder] = []

  /// Called once, with the next frame as it is encoded.
  package var peek: ((borrowing VideoFrame) throws(UprightError) -> Void)?

  /// Subtracted from every presentation time, in ticks of the output.
  package var shift: Int64 = 0
  package private(set) var tally: FrameTally
  /// The time and app orientation of the last frame that was encoded.
  package private(set) var latest: (time: MediaTime, app: InterfaceOrientation)?
  /// How the last frame was laid out, without an animation, and its stored size; `nil` before the first.
  package private(set) var latestLayout: (placement: Placement, source: PixelSize)?

  package init(_ work: Work, _ setup: Setup) {
    self.work = work
    self.setup = setup
    preparation =
      setup.preparation
      ?? FramePreparation(background: work.options.background, isShared: false)
    tally = FrameTally(timeBase: work.timeBase, isLive: work.options.isLive)
  }

  /// Warnings for the user about the frames so far.
  package var warnings: [String] {
    noted + (preparation.hasDrawn ? ["transparent areas were drawn on the background"] : [])
  }

  /// The keyframes so far.
  package var keyframes: KeyframeClock {
    get { setup.keyframes }
    set { setup.keyframes = newValue }
  }

  /// Makes the next frame a keyframe, in addition to those that are forced at intervals.
  package func requestKeyframe() { wantsExtraKeyframe = true }

  /// Changes how frames are laid out, what is drawn over them, and the rate control, from the next frame on.
  package func change(_ options: TranscodeOptions, fit: Fit, _ stills: SessionStills) {
    preparation.change(options.background)
    (work.options, work.fit, work.stills) = (options, fit, stills)
    stages?.compositor.change(layout, stills)
    stages?.chain.change(options.firstRate)
  }

  private var layout: FrameOrienter.Layout {
    .init(
      fit: work.fit, anchor: work.options.anchor, background: work.options.background,
      filter: work.options.filter, scaler: work.options.scaler)
  }

  /// Discards the format changes, which only a final report needs.
  package func forgetChanges() { tally.forgetChanges() }

  /// Processes one frame. Packets are emitted when the encoder returns them.
  ///
  /// - Parameters:
  ///   - time: The frame's time on the media timeline.
  ///   - isShown: Whether the frame is encoded. Others are only neighbours of interlaced ones.
  package func process(
    _ frame: consuming VideoFrame, _ direction: FrameDirection, _ time: MediaTime,
    isShown: Bool = true, emit: Emit
  ) throws(UprightError) {
    if losesCaptions && frame.hasCaptions { losses.insert(EncodingLosses.captions) }
    let frame = try mapped(frame, direction)
    let stages = self.stages ?? prepare(frame)
    let plainFrame = try preparation.plain(frame)
    let placement = stages.orienter.placement(
      of: plainFrame.size, sampleAspectRatio: plainFrame.sampleAspectRatio, turn: direction.turn,
      focus: direction.focus, canvas: direction.canvas)
    try stages.fields.process(plainFrame, direction, time, by: placement, isShown: isShown) {
      (frame: consuming VideoFrame, direction: FrameDirection, time: MediaTime) throws(UprightError)
      in
      try show(frame, direction, time, stages, emit)
    }
  }

  /// Draws a frame that isn't encoded, if `peek` waits for one.
  package func draw(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection
  ) throws(UprightError) {
    guard let stages, let peek = peek.take() else { return }
    let plain = try preparation.plain(try mapped(try frame.shared(), direction))
    let shape = plain.sampleAspectRatio
    let placement = stages.orienter.placement(
      of: plain.size, sampleAspectRatio: shape, turn: direction.turn, focus: direction.focus,
      canvas: direction.canvas)
    try peek(try stages.compositor.output(for: plain, direction, placement, shape: shape))
  }

  /// Emits all remaining packets. No frame may follow.
  package func finish(emit: Emit) throws(UprightError) {
    guard let stages else { return }
    try stages.fields.finish {
      (frame: consuming VideoFrame, direction: FrameDirection, time: MediaTime) throws(UprightError)
      in
      try show(frame, direction, time, stages, emit)
    }
    try stages.chain.finish(emit: emit)
    for rung in rungs { try rung.finish() }
  }

  /// Returns the frame, or its tone-mapped version if it is HDR and only 8 bits are encoded: HDR in 8 bits
  /// would show banding, and players don't show such frames as HDR.
  private func mapped(
    _ frame: consuming VideoFrame, _ direction: FrameDirection
  ) throws(UprightError) -> VideoFrame {
    guard frame.colour.isHDR, frame.format.bitDepth > 8 else { return frame }
    let isWanted = mapsTones ?? mapsTones(frame)
    mapsTones = isWanted
    guard isWanted else { return frame }
    let size = smallerSize(frame, direction)
    return try preparation.toneMapped(frame, size: size)
  }

  /// Returns the size, of the same shape, in which no pixel of a frame is enlarged on its canvas; `nil` for nearly its own.
  private func smallerSize(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection
  ) -> PixelSize? {
    // During an animation, frames are as large as they get.
    guard direction.moment == nil, !work.options.levels, !frame.isInterlaced else { return nil }
    let placement = Placement(
      source: frame.size, sampleAspectRatio: frame.sampleAspectRatio,
      orientation: direction.turn, fit: work.fit, anchor: work.options.anchor,
      focus: direction.focus, canvas: direction.canvas, alignment: PixelSize(2, 2))
    let drawn = direction.turn.inverse.applied(to: placement.canvasRect.size)
    let source = placement.sourceRect
    let across = Double(drawn.width) / Double(max(1, source.width))
    let down = Double(drawn.height) / Double(max(1, source.height))
    let scale = max(across, down)
    guard scale < 0.9 else { return nil }
    func side(_ length: Int) -> Int {
      let pairs = (Double(length) * scale / 2).rounded(.up)
      return max(1, Int(clamping: pairs)) * 2
    }
    return PixelSize(side(frame.size.width), side(frame.size.height))
  }

  private func mapsTones(_ frame: borrowing VideoFrame) -> Bool {
    let settings = setup.adapt(work.settings(frame, setup.codec))
    guard settings.format.bitDepth == 8 else { return false }
    losses.insert(EncodingLosses.toneMapping)
    return true
  }

  private func prepare(_ frame: borrowing VideoFrame) -> Stages {
    let settings = setup.adapt(work.settings(frame, setup.codec))
    losses.formUnion(EncodingLosses.of(frame, settings, container: work.container))
    losesCaptions = !settings.carriesCaptions
    let orienter = FrameOrienter(format: settings.format, layout: layout)
    if let canvas = setup.canvas {
      orienter.site(canvas.size, like: frame, turned: canvas.turn)
    }
    let made = Stages(
      orienter: orienter,
      fields: DeinterlacingStage(
        carriesFields: settings.carriesFields, format: settings.format, isScaled: !rungs.isEmpty),
      compositor: FrameCompositor(orienter: orienter, stills: work.stills),
      chain: EncoderChain(settings, followsColour: work.canFollow),
      rungs: RungEncoder.Opening(
        settings: settings, followsColour: work.canFollow,
        layout: .init(
          fit: .stretch, filter: work.options.filter, scaler: work.options.scaler)))
    stages = made
    return made
  }

  private func show(
    _ frame: consuming VideoFrame, _ direction: FrameDirection, _ time: MediaTime, _ stages: Stages,
    _ emit: Emit
  ) throws(UprightError) {
    let shape = frame.sampleAspectRatio
    let placement = stages.orienter.placement(
      of: frame.size, sampleAspectRatio: shape, turn: direction.turn, focus: direction.focus,
      canvas: direction.canvas)
    latestLayout = (placement, frame.size)
    let orienting = ContinuousClock.now
    var drawn = try stages.compositor.output(for: frame, direction, placement, shape: shape)
    drawn.fields = DeinterlacingStage.fields(frame.fields, after: placement.orientation)
    tally.orientSeconds += orienting.secondsUntilNow
    drawn.rescale(to: work.timeBase)
    drawn.pts = drawn.pts.map { $0 - shift }
    record(direction, placement, drawn.colour, time)
    tally.frames += 1
    tally.end(drawn)
    latest = (time, direction.format.appOrientation)
    if let peek = peek.take() { try peek(drawn) }
    if let tap = setup.tap {
      return try tap.process(stored: frame, upright: drawn, direction: direction, time: time)
    }
    let isDue = setup.keyframes.isDue(
      at: time, canvas: direction.canvas,
      isFirst: setup.wantsKeyframe() || stages.chain.changesFormat(with: drawn))
    drawn.forcesKeyframe = isDue || wantsExtraKeyframe
    wantsExtraKeyframe = false
    let encoding = ContinuousClock.now
    try stages.chain.encode(drawn, emit: emit)
    tally.encodeSeconds += encoding.secondsUntilNow
    for rung in rungs where rung.isActive {
      let times = try rung.encode(drawn, stages.rungs)
      tally.orientSeconds += times.scaling
      tally.encodeSeconds += times.encoding
    }
  }

  private func record(
    _ direction: FrameDirection, _ placement: Placement, _ colour: Colour, _ time: MediaTime
  ) {
    if let change = tally.add(direction, placement, at: time) {
      setup.observe(.format(change))
    }
    if !work.canFollow, tally.addColour(colour) {
      noted.append(
        "at \(time.seconds): the colour's description changed; \(work.container) keeps the first one"
      )
    }
  }
}
