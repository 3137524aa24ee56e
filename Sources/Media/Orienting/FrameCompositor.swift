internal import UprightOrientation
internal import UprightKernels
internal import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO

/// Draws the output frame for each input frame: the input frame, the last frame before a turn, a held frame,
/// a still picture, or a blend of two frames, with the overlays on top. Returns one frame for each input
/// frame, with that frame's timestamps. Used by one thread.
final class FrameCompositor {
  private let orienter: FrameOrienter
  private var slate: HeldContent?
  private var overlays: OverlayPainter
  /// What was shown last, without the animation of a turn.
  private var last: HeldContent?
  /// What was shown before the turn in progress.
  private var before: (turn: OrientationTimeline.Turn, standing: HeldContent?)?

  init(orienter: FrameOrienter, stills: SessionStills) {
    self.orienter = orienter
    slate = stills.slate.map { HeldContent(.still($0)) }
    overlays = OverlayPainter(stills.overlays, format: orienter.format)
  }

  /// Changes the layout and the still pictures from the next frame on. What is held is drawn again.
  func change(_ layout: FrameOrienter.Layout, _ stills: SessionStills) {
    orienter.layout = layout
    slate = stills.slate.map { HeldContent(.still($0)) }
    overlays = OverlayPainter(stills.overlays, format: orienter.format)
    last?.redraw()
    before?.standing?.redraw()
  }

  /// Returns the output frame for `frame`.
  ///
  /// - Parameters:
  ///   - placement: The layout of the frame at rest, according to `direction`.
  ///   - shape: The sample aspect ratio of the frame.
  func output(
    for frame: borrowing VideoFrame, _ direction: FrameDirection, _ placement: Placement,
    shape: Rational
  ) throws(UprightError) -> VideoFrame {
    record(direction.moment?.turn)
    let output = try ground(frame, direction, placement, shape)
    return try overlays.paint(output, window: direction.window, with: orienter)
  }

  private func record(_ turn: OrientationTimeline.Turn?) {
    guard let turn else {
      before = nil
      return
    }
    if before?.turn != turn { before = (turn, last) }
  }

  private func ground(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ placement: Placement,
    _ shape: Rational
  ) throws(UprightError) -> VideoFrame {
    guard direction.isCaptureEnabled else {
      let standing = slate ?? last ?? HeldContent(.nothing)
      last = standing
      return try standing.output(for: frame, on: direction.canvas, by: orienter)
    }
    let moment = direction.moment
    if let moment, moment.turn.style == .hold {
      // If there is no earlier frame, the first frame is held.
      var standing = before?.standing
      if standing == nil { standing = HeldContent(try frame.shared(), direction, shape: shape) }
      before?.standing = standing
      last = standing
      if let standing {
        return try standing.output(for: frame, on: direction.canvas, by: orienter)
      }
    }
    try keep(frame, direction, shape)
    switch moment?.turn.style {
    case .spin: return try spun(frame, direction, placement, shape)
    case .crossfade: return try crossfaded(frame, direction, placement)
    default: return try rested(frame, direction, placement)
    }
  }

  /// Stores `frame` as what was shown last. Reuses the existing object unless it is held elsewhere.
  private func keep(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ shape: Rational
  ) throws(UprightError) {
    let output = try frame.shared()
    if isKnownUniquelyReferenced(&last), let last {
      last.show(output, direction, shape: shape)
    } else {
      last = HeldContent(output, direction, shape: shape)
    }
  }

  /// Returns the frame in its layout at rest.
  private func rested(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ placement: Placement
  ) throws(UprightError) -> VideoFrame {
    try orienter.orient(frame, by: placement, levelled: direction.level)
  }

  private func spun(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ placement: Placement,
    _ shape: Rational
  ) throws(UprightError) -> VideoFrame {
    guard let moment = direction.moment, moment.clockwiseDegrees != 0 else {
      return try rested(frame, direction, placement)
    }
    let earlier = orienter.placement(
      of: frame.size, sampleAspectRatio: shape,
      turn: direction.turn.then(
        ImageOrientation(
          flippedHorizontally: false, quarterTurns: -moment.clockwiseDegrees / 90)),
      focus: direction.focus, canvas: direction.canvas)
    let fraction = TimingCurve.easeInOut.value(at: moment.progress)
    if fraction == 0 { return try rested(frame, direction, earlier) }
    let pose = Pose(
      from: earlier, to: placement, of: frame.size, clockwiseDegrees: moment.clockwiseDegrees,
      fraction: fraction, level: direction.level)
    return try orienter.orient(frame, in: pose, on: direction.canvas, resting: placement)
  }

  private func crossfaded(
    _ frame: borrowing VideoFrame, _ direction: FrameDirection, _ placement: Placement
  ) throws(UprightError) -> VideoFrame {
    let output = try rested(frame, direction, placement)
    guard let moment = direction.moment, let standing = before?.standing else { return output }
    let held = try standing.output(for: frame, on: direction.canvas, by: orienter)
    guard let from = FrameView(held), let to = FrameView(output) else { return output }
    let kernels = orienter.kernels
    let weight = Int(clamping: moment.progress * 256)
    for (old, new) in zip(from.framePlanes, to.framePlanes) {
      try runKernel { () throws(PixelKernelsError) in
        try kernels.blend(
          PlaneView(old.samples), PlaneView(new.samples), weight: weight, into: new.samples,
          componentSize: from.format.sampleBytes)
      }
    }
    return output
  }
}

/// Content that can be shown without a new frame. It is drawn again for each canvas, so that its aspect ratio
/// is kept, and cached for later frames on the same canvas.
final class HeldContent {
  enum Content {
    /// A frame laid out by the direction; `shape` is its sample aspect ratio.
    case frame(FrameDirection, shape: Rational)
    /// A still picture, upright and fitted into the canvas.
    case still(StillImage)
    /// The background colour only.
    case nothing
  }

  private var content: Content
  /// The frame, if `content` is `frame`.
  private var held: VideoFrame?
  private var drawn: VideoFrame?

  init(_ content: Content) { self.content = content }

  init(_ frame: consuming VideoFrame, _ direction: FrameDirection, shape: Rational) {
    content = .frame(direction, shape: shape)
    held = consume frame
  }

  /// Replaces the content with `frame`.
  func show(_ frame: consuming VideoFrame, _ direction: FrameDirection, shape: Rational) {
    content = .frame(direction, shape: shape)
    held = consume frame
    drawn = nil
  }

  /// Draws the content again for the next frame.
  func redraw() { drawn = nil }

  /// Returns the content drawn in place of `frame`. Its memory is shared.
  func output(
    for frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(UprightError) -> VideoFrame {
    if drawn?.size != canvas { drawn = try draw(like: frame, on: canvas, by: orienter) }
    guard let output = try drawn?.replacement(for: frame) else {
      throw UprightError(.fault, "no drawn frame to hold")
    }
    return output
  }

  private func draw(
    like frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(UprightError) -> VideoFrame {
    switch content {
    case .frame(let direction, let shape):
      guard let output = try draw(direction, shape, on: canvas, by: orienter) else {
        throw UprightError(.fault, "no frame to hold")
      }
      return output
    case .still(let still):
      let output = try background(like: frame, on: canvas, by: orienter)
      let rect = Placement(
        source: still.size, orientation: .up, canvas: canvas, alignment: orienter.format.alignment
      ).canvasRect
      let stamp = try PreparedOverlay(
        still, turn: .up, rect: rect, format: orienter.format, like: output)
      try stamp.draw(on: output, with: orienter.kernels)
      return output
    case .nothing:
      return try background(like: frame, on: canvas, by: orienter)
    }
  }

  private func draw(
    _ direction: FrameDirection, _ shape: Rational, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(UprightError) -> VideoFrame? {
    // A switch over the optional borrows its value; a binding would consume it.
    switch held {
    case .some(let frame):
      let placement = orienter.placement(
        of: frame.size, sampleAspectRatio: shape, turn: direction.turn,
        focus: direction.focus, canvas: canvas)
      return try orienter.orient(frame, by: placement, levelled: direction.level)
    case .none: return nil
    }
  }

  private func background(
    like frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(UprightError) -> VideoFrame {
    let output = try orienter.blank(like: frame, on: canvas, turned: .up)
    orienter.fillMargins(
      of: output, around: PixelRect(x: 0, y: 0, width: 0, height: 0), colour: output.colour)
    return output
  }
}
