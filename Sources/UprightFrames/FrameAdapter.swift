public import UprightOrientation
internal import UprightKernels

/// Orients the frames of one stream: asks the policy at each frame's time how the frame is laid out, and draws
/// it into a buffer of the caller's in one pass.
///
/// Without options, each frame is turned by its own signal, and the buffer has its upright size. With a canvas or a
/// size, signals are the policy's events, as those that are posted.
///
/// Turning alone moves samples and is exact. Turning and rescaling are one pass with the quality of
/// libswscale's accurate rounding, for I420, NV12, P010, 4:2:2, 4:4:4, RGBA and every layout that
/// `isResampled`. Of packed 4:2:2 come three planes. Alpha is rescaled like a colour: if a frame isn't opaque, its colours should be
/// premultiplied. While the layout stays the same, a frame allocates nothing.
/// Transitions (`spin`, `crossfade`, `hold`) are not drawn: each frame is laid out as it is at rest.
///
/// Used by one thread at a time; events come in by `inbox` from any thread.
public final class FrameAdapter {
  /// Takes the stream's events.
  public let inbox: EventInbox

  private let options: AdapterOptions
  private let pixels: FramePixels
  /// The planes that are drawn where the result has another format.
  private var drawn: PlaneMemory?
  private var director: FrameDirector
  private let pass = FramePass()
  private var last = 0.0
  private var pattern: (source: FrameFormat, pattern: FillPattern)?
  /// Where chroma is on the present canvas: the first frame on it decides, for an encoder can be told of one
  /// position only.
  private var siting: (canvas: PixelSize, position: ChromaPosition)?

  /// Creates an adapter for one stream.
  ///
  /// - Parameters:
  ///   - options: How frames are turned and laid out.
  ///   - pixels: The pixel format of the upright frames. `rgb24` is made of YUV, grey and RGB samples of 8 bits,
  ///     `nv12` and `yuv420p` of YUV ones.
  ///   - inbox: Takes the stream's events, from any thread: a host whose adapter is isolated keeps it beside.
  /// - Throws: `usage` for an option that is invalid, or two that contradict each other; `badData` if the policy
  ///   can't start.
  public init(
    _ options: AdapterOptions = AdapterOptions(), pixels: FramePixels = .native,
    inbox: EventInbox = EventInbox()
  ) throws(UprightError) {
    try options.check()
    self.options = options
    self.pixels = pixels
    self.inbox = inbox
    director = try FrameDirector(options.forFrames, signalsAreEvents: true)
    director.keepsOddSizes = true
  }

  /// Returns what the frame at `time` becomes. Frames must come in the order of their times.
  ///
  /// - Parameters:
  ///   - source: The format of the stored frame.
  ///   - time: The frame's presentation time.
  ///   - signal: What the stream itself says of the frame's orientation; for `frames: .metadata`.
  /// - Throws: `usage` for a size that isn't 1 to 65535 pixels, and for a layout that isn't valid. `badData` for a
  ///   time beyond `RotationEvent.latest`, which changes nothing, and for an event that makes no sense, whose time has
  ///   come: it is left out, and the call can be repeated. `unavailable` if the frame would have to be rescaled and
  ///   its samples can't be, or if the pixel format that was asked for can't be made of them.
  public func layout(
    of source: FrameFormat, at time: MediaTime, signal: DisplayTurn? = nil
  ) throws(UprightError) -> FrameLayout {
    let seconds = try checked(source, time)
    for event in inbox.take(upTo: seconds) { try director.push(event) }
    last = seconds
    defer { director.forget(before: seconds) }
    return try laidOut(source, at: seconds, signal)
  }

  /// Returns what a frame at `time` would become, as far as the events that took effect tell, and changes nothing:
  /// for a host that has to name a format before the first frame.
  ///
  /// - Throws: The errors of `layout(of:at:signal:)`.
  public func peek(
    of source: FrameFormat, at time: MediaTime, signal: DisplayTurn? = nil
  ) throws(UprightError) -> FrameLayout {
    let before = (director, siting)
    defer { (director, siting) = before }
    return try laidOut(source, at: checked(source, time), signal)
  }

  /// Returns the time at which a frame is laid out.
  private func checked(_ source: FrameFormat, _ time: MediaTime) throws(UprightError) -> Double {
    guard source.layout.isValid else {
      throw UprightError(
        .usage, "no frame has a layout of \(source.layout.planes.count) planes like these",
        at: "layout",
        remedy: "give one to four planes of elements of 1 to 4 bytes, and components inside them")
    }
    let sides = 1...PixelSize.longestSide
    guard sides.contains(source.size.width), sides.contains(source.size.height) else {
      throw UprightError(
        .usage, "a frame of \(source.size)", at: "size",
        remedy: "give 1 to \(PixelSize.longestSide) pixels")
    }
    guard time.seconds.magnitude <= RotationEvent.latest else {
      throw UprightError(
        .badData, "\(time.seconds) s is not a time on the media timeline", at: "the frame",
        remedy: "give the frame a presentation time")
    }
    return max(time.seconds, last)
  }

  private func laidOut(
    _ source: FrameFormat, at seconds: Double, _ signal: DisplayTurn?
  ) throws(UprightError) -> FrameLayout {
    let shape = FrameShape(
      stored: source.size, sampleAspectRatio: source.sampleAspectRatio)
    let direction = try director.direct(at: seconds, size: shape.shown, signal: signal)
    let turned = source.layout.turned(direction.turn)
    // A cut must be between chroma samples of both: a quarter turn makes 4:4:0 of 4:2:2.
    let (from, to) = (
      source.layout.alignment, (pixels.drawn(of: turned) ?? turned).alignment
    )
    let placement = Placement(
      source: source.size, sampleAspectRatio: source.sampleAspectRatio,
      orientation: direction.turn, fit: options.fit, anchor: options.anchor,
      focus: direction.focus, canvas: direction.canvas,
      alignment: PixelSize(max(from.width, to.width), max(from.height, to.height)))
    guard placement.isExact || source.layout.isResampled else {
      throw UprightError(
        .unavailable, "frames of this layout can be turned, not rescaled",
        at: "\(source.size) on \(direction.canvas)",
        remedy: "give samples of 8 bits in a byte, or of 9 to 12 bits in two, little-endian")
    }
    guard let planes = pixels.drawn(of: turned) else {
      throw UprightError(
        .unavailable, "\(pixels.name ?? "this format") can't be made of frames of this layout",
        at: "pixels", remedy: "ask for the native format, or give samples of 8 bits in a byte")
    }
    var drawn = FrameFormat(planes, direction.canvas)
    drawn.colour = source.colour
    drawn.chroma = position(on: direction.canvas, source.chroma.turned(direction.turn))
    var target = drawn
    if let layout = pixels.layout, layout != planes {
      target.layout = layout
      if layout.isRGB { target.chroma = .left }
    }
    return FrameLayout(
      format: direction.format, target: target, turn: direction.turn, placement: placement,
      isCaptureEnabled: direction.isCaptureEnabled, source: source, drawn: drawn)
  }

  private func position(on canvas: PixelSize, _ position: ChromaPosition) -> ChromaPosition {
    if let siting, siting.canvas == canvas { return siting.position }
    siting = (canvas, position)
    return position
  }

  /// Draws `source` as `layout` says. Writes every sample of `target` once, apart from row padding.
  ///
  /// - Throws: `usage` if the planes aren't of the layout's formats, or their rows overlap; `unavailable` if the frame shrinks more
  ///   than its filter can (30 times with `bicubic`). Nothing is written then.
  public func draw(
    _ source: PlaneSet, _ layout: FrameLayout, into target: MutablePlaneSet
  ) throws(UprightError) {
    try check(source.layout, source.size, layout.source, "source")
    try check(target.layout, target.size, layout.target, "target")
    do throws(PixelKernelsError) {
      try source.check()
      try target.check()
    } catch {
      throw UprightError(.usage, error.message, at: "draw", cause: error)
    }
    guard layout.drawn.layout != layout.target.layout else {
      return try place(source, layout, on: target)
    }
    let planes = try drawnPlanes(layout.drawn)
    try place(source, layout, on: planes)
    let conversion = SampleConversion(
      from: layout.drawn.layout, to: layout.target.layout, layout.target.colour)
    do throws(PixelKernelsError) {
      try conversion?.convert(PlaneSet(planes), into: target)
    } catch {
      throw UprightError(.usage, error.message, at: "draw", cause: error)
    }
  }

  private func place(
    _ source: PlaneSet, _ layout: FrameLayout, on target: MutablePlaneSet
  ) throws(UprightError) {
    let pattern = fillPattern(layout.drawn)
    guard layout.isCaptureEnabled, !layout.placement.isEmpty else { return pattern.fill(target) }
    guard let from = source.window(layout.placement.sourceRect),
      let to = target.window(layout.placement.canvasRect)
    else {
      throw UprightError(.fault, "a \(source.size) frame can't be placed on \(target.size)")
    }
    let isDrawn: Bool
    do throws(PixelKernelsError) {
      isDrawn = try pass.draw(
        from, turned: layout.turn, onto: to, stored: layout.source.chroma,
        siting: layout.drawn.chroma, filter: options.filter)
    } catch {
      throw UprightError(.usage, error.message, at: "draw", cause: error)
    }
    guard isDrawn else {
      throw UprightError(.unavailable, "\(from.size) pixels can't be rescaled to \(to.size)")
    }
    if !layout.placement.coversCanvas {
      pattern.fill(target, around: layout.placement.canvasRect)
    }
  }

  /// The planes that are drawn before they are converted.
  private func drawnPlanes(_ format: FrameFormat) throws(UprightError) -> MutablePlaneSet {
    if let drawn, drawn.planes.layout == format.layout, drawn.planes.size == format.size {
      return drawn.planes
    }
    do throws(PixelKernelsError) {
      let made = try PlaneMemory(format.layout, format.size)
      drawn = made
      return made.planes
    } catch {
      throw UprightError(.usage, error.message, at: "draw", cause: error)
    }
  }

  private func check(
    _ layout: PixelLayout, _ size: PixelSize, _ wanted: FrameFormat, _ name: String
  ) throws(UprightError) {
    guard layout == wanted.layout, size == wanted.size else {
      throw UprightError(
        .usage, "the \(name) is \(size), and the layout is for \(wanted.size)", at: "draw",
        remedy: "give planes of the format that the layout names")
    }
  }

  private func fillPattern(_ format: FrameFormat) -> FillPattern {
    if let pattern, pattern.source == format { return pattern.pattern }
    let made = FillPattern(options.background, format.layout, format.colour)
    pattern = (format, made)
    return made
  }

  /// Returns the decisions since the last call. They are kept until they are taken.
  public func takeDecisions() -> [RotationDecision] { director.takeEntries() }
}
