package import Orientation
internal import PixelKernels
internal import RotationPolicy
package import UprightMediaIO

/// Draws what stands in the picture at each frame: the frame itself, the last one before a turn, one
/// that was held, a still, or a moment between two; and the overlays over it. One picture comes out for
/// each frame, with that frame's times. Used by one thread.
package final class PictureStage {
  private let orienter: FrameOrienter
  private let slate: Standing?
  private var overlays: OverlayPainter
  /// What was shown last, apart from what a turn made of it.
  private var last: Standing?
  /// What stood before the turn under way.
  private var before: (turn: OrientationTimeline.Turn, standing: Standing?)?

  package init(orienter: FrameOrienter, stills: SessionStills) {
    self.orienter = orienter
    slate = stills.slate.map { Standing(.still($0)) }
    overlays = OverlayPainter(stills.overlays, format: orienter.format)
  }

  /// The picture for `frame`.
  ///
  /// - Parameters:
  ///   - placement: how the frame is laid out at rest, as `direction` says.
  ///   - shape: the width of the frame's pixels over their height.
  package func picture(
    of frame: borrowing VideoFrame, _ direction: Direction, _ placement: Placement, shape: Rational
  ) throws(MediaError) -> VideoFrame {
    note(direction.moment?.turn)
    let picture = try ground(frame, direction, placement, shape)
    return try overlays.paint(picture, window: direction.window, with: orienter)
  }

  private func note(_ turn: OrientationTimeline.Turn?) {
    guard let turn else {
      before = nil
      return
    }
    if before?.turn != turn { before = (turn, last) }
  }

  private func ground(
    _ frame: borrowing VideoFrame, _ direction: Direction, _ placement: Placement, _ shape: Rational
  ) throws(MediaError) -> VideoFrame {
    guard direction.isCaptureEnabled else {
      let standing = slate ?? last ?? Standing(.nothing)
      last = standing
      return try standing.picture(for: frame, on: direction.canvas, by: orienter)
    }
    let moment = direction.moment
    if let moment, moment.turn.style == .hold {
      // With nothing before it the first frame is what stands.
      var standing = before?.standing
      if standing == nil { standing = Standing(try frame.shared(), direction, shape: shape) }
      before?.standing = standing
      last = standing
      if let standing {
        return try standing.picture(for: frame, on: direction.canvas, by: orienter)
      }
    }
    try keep(frame, direction, shape)
    switch moment?.turn.style {
    case .spin: return try spun(frame, direction, placement, shape)
    case .crossfade: return try crossfaded(frame, direction, placement)
    default: return try rested(frame, direction, placement)
    }
  }

  /// Notes `frame` as what was shown last: in the same place as the one before it, unless someone
  /// holds that one.
  private func keep(
    _ frame: borrowing VideoFrame, _ direction: Direction, _ shape: Rational
  ) throws(MediaError) {
    let picture = try frame.shared()
    if isKnownUniquelyReferenced(&last), let last {
      last.show(picture, direction, shape: shape)
    } else {
      last = Standing(picture, direction, shape: shape)
    }
  }

  /// The frame as it is laid out.
  private func rested(
    _ frame: borrowing VideoFrame, _ direction: Direction, _ placement: Placement
  ) throws(MediaError) -> VideoFrame {
    guard direction.level != 0 else { return try orienter.orient(frame, by: placement) }
    return try orienter.orient(
      frame, in: Pose(placement, of: frame.size, degrees: direction.level),
      on: direction.canvas, resting: placement)
  }

  private func spun(
    _ frame: borrowing VideoFrame, _ direction: Direction, _ placement: Placement, _ shape: Rational
  ) throws(MediaError) -> VideoFrame {
    guard let moment = direction.moment, moment.clockwiseDegrees != 0 else {
      return try rested(frame, direction, placement)
    }
    let earlier = orienter.placement(
      of: frame.size, sampleAspectRatio: shape,
      turn: direction.turn.then(
        ImageOrientation(
          flippedHorizontally: false, quarterTurns: -moment.clockwiseDegrees / 90)),
      canvas: direction.canvas)
    let fraction = TimingCurve.easeInOut.value(at: moment.progress)
    if fraction == 0 { return try rested(frame, direction, earlier) }
    let pose = Pose(
      from: earlier, to: placement, of: frame.size, clockwiseDegrees: moment.clockwiseDegrees,
      fraction: fraction, level: direction.level)
    return try orienter.orient(frame, in: pose, on: direction.canvas, resting: placement)
  }

  private func crossfaded(
    _ frame: borrowing VideoFrame, _ direction: Direction, _ placement: Placement
  ) throws(MediaError) -> VideoFrame {
    let picture = try rested(frame, direction, placement)
    guard let moment = direction.moment, let standing = before?.standing else { return picture }
    let held = try standing.picture(for: frame, on: direction.canvas, by: orienter)
    guard let from = PictureView(held), let to = PictureView(picture) else { return picture }
    let kernels = orienter.kernels
    let weight = Int(clamping: moment.progress * 256)
    for (old, new) in zip(from.picturePlanes, to.picturePlanes) {
      try runKernel { () throws(PixelKernelsError) in
        try kernels.blend(
          PlaneView(old.samples), PlaneView(new.samples), weight: weight, into: new.samples,
          componentSize: from.format.sampleBytes)
      }
    }
    return picture
  }
}

/// Something that can stand in the picture without a new frame: drawn anew for each canvas, so that its
/// shape is kept, and kept for the next frame on the same one.
final class Standing {
  enum Content {
    /// A frame as the direction laid it out; `shape` is its pixels' width over their height.
    case frame(Direction, shape: Rational)
    /// A still picture, fitted in upright.
    case still(StillPicture)
    /// The background.
    case nothing
  }

  private var content: Content
  /// The frame, where that is what stands.
  private var held: VideoFrame?
  private var drawn: VideoFrame?

  init(_ content: Content) { self.content = content }

  init(_ frame: consuming VideoFrame, _ direction: Direction, shape: Rational) {
    content = .frame(direction, shape: shape)
    held = consume frame
  }

  /// Lets `frame` stand in place of what stood so far.
  func show(_ frame: consuming VideoFrame, _ direction: Direction, shape: Rational) {
    content = .frame(direction, shape: shape)
    held = consume frame
    drawn = nil
  }

  /// The picture in place of `frame`; its memory is shared.
  func picture(
    for frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(MediaError) -> VideoFrame {
    if drawn?.size != canvas { drawn = try draw(like: frame, on: canvas, by: orienter) }
    guard let picture = try drawn?.standingIn(for: frame) else {
      throw MediaError(.fault, "no picture to hold")
    }
    return picture
  }

  private func draw(
    like frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(MediaError) -> VideoFrame {
    switch content {
    case .frame(let direction, let shape):
      guard let picture = try draw(direction, shape, on: canvas, by: orienter) else {
        throw MediaError(.fault, "no frame to hold")
      }
      return picture
    case .still(let still):
      let picture = try background(like: frame, on: canvas, by: orienter)
      let rect = Placement(
        source: still.size, orientation: .up, canvas: canvas, alignment: orienter.format.alignment
      ).canvasRect
      let stamp = try Stamp(
        still, turn: .up, rect: rect, format: orienter.format, like: picture)
      try stamp.draw(on: picture, with: orienter.kernels)
      return picture
    case .nothing:
      return try background(like: frame, on: canvas, by: orienter)
    }
  }

  private func draw(
    _ direction: Direction, _ shape: Rational, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(MediaError) -> VideoFrame? {
    // A switch over the optional borrows what is in it; a binding would take it out.
    switch held {
    case .some(let frame):
      let placement = orienter.placement(
        of: frame.size, sampleAspectRatio: shape, turn: direction.turn, canvas: canvas)
      guard direction.level != 0 else { return try orienter.orient(frame, by: placement) }
      return try orienter.orient(
        frame, in: Pose(placement, of: frame.size, degrees: direction.level), on: canvas,
        resting: placement)
    case .none: return nil
    }
  }

  private func background(
    like frame: borrowing VideoFrame, on canvas: PixelSize, by orienter: FrameOrienter
  ) throws(MediaError) -> VideoFrame {
    let picture = try orienter.blank(like: frame, on: canvas, turned: .up)
    orienter.fillMargins(
      of: picture, around: PixelRect(x: 0, y: 0, width: 0, height: 0), colour: picture.colour)
    return picture
  }
}
