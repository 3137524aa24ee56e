internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// Frames at any angle: scaled and turned by the nearest quarter turn first, like every frame, and then
/// turned by the remaining angle in one warp.
extension FrameOrienter {
  /// Returns `frame` in its placement, turned further about its centre. A frame that fills its canvas is enlarged, so that
  /// its corners stay outside.
  ///
  /// - Parameter degrees: The clockwise turn.
  func orient(
    _ frame: borrowing VideoFrame, by placement: Placement, levelled degrees: Double
  ) throws(UprightError) -> VideoFrame {
    guard degrees != 0 else { return try orient(frame, by: placement) }
    let pose = Pose(placement, of: frame.size, degrees: degrees)
    return try orient(
      frame, in: layout.fit == .fill ? pose.covering(placement.canvas) : pose,
      on: placement.canvas, resting: placement)
  }

  /// Returns `frame` drawn on `canvas` in `pose`: a new frame with the timestamps and colour of `frame`.
  ///
  /// - Parameter resting: The placement of the frame after the turn. A blurred backdrop has this orientation
  ///   from the start.
  func orient(
    _ frame: borrowing VideoFrame, in pose: Pose, on canvas: PixelSize, resting: Placement
  ) throws(UprightError) -> VideoFrame {
    let result = try blank(like: frame, on: canvas, turned: pose.orientation)
    let upright = pose.orientation.applied(to: frame.size)
    let scale = Size(
      width: pose.size.width / Double(upright.width),
      height: pose.size.height / Double(upright.height))
    try drawBackground(of: frame, at: resting, on: result)
    guard let part = pose.visiblePart(of: frame.size, on: canvas, grid: frame.format.alignment)
    else { return result }
    let stood = pose.orientation.applied(to: part.size)
    let drawn = PixelSize(
      Self.steps(Double(stood.width) * scale.width, format.alignment.width),
      Self.steps(Double(stood.height) * scale.height, format.alignment.height))
    let margin = layout.fit == .blur ? PixelSize(0, 0) : format.alignment.doubled
    let rect = PixelRect(
      x: margin.width, y: margin.height, width: drawn.width, height: drawn.height)
    let scaled = try posedFrame(
      PixelSize(drawn.width + 2 * margin.width, drawn.height + 2 * margin.height))
    guard let source = FrameView(frame, part) ?? FrameView(frame),
      let window = FrameView(scaled, rect), let from = FrameView(scaled),
      let to = FrameView(result)
    else { throw UprightError(.fault, "a \(frame.size) frame can't be turned on \(canvas)") }
    try draw(
      source, onto: window, turn: pose.orientation, colour: drawnColour(of: frame),
      siting: result.colour.chromaPosition)
    // This blends the edges of the frame with the background instead of leaving a staircase.
    fillMargins(of: scaled, around: rect, colour: result.colour)

    let stored = AffineMatrix(translationX: Double(-rect.x), y: Double(-rect.y))
      .concatenating(
        AffineMatrix(
          scaleX: Double(stood.width) / Double(drawn.width),
          y: Double(stood.height) / Double(drawn.height))
      )
      .concatenating(AffineMatrix(pose.orientation.inverse, size: stood))
      .concatenating(AffineMatrix(translationX: Double(part.x), y: Double(part.y)))
    try warp(
      from, onto: to, by: stored.concatenating(pose.transform(of: frame.size)),
      siting: result.colour.chromaPosition)
    return result
  }

  /// Warps plane by plane. Both frames have the orienter's format and the same siting.
  private func warp(
    _ source: FrameView, onto target: FrameView, by transform: AffineMatrix,
    siting: ChromaPosition
  ) throws(UprightError) {
    for (from, to) in zip(source.framePlanes, target.framePlanes) {
      guard let toFrame = format.layout?.transform(of: from.layout, siting: siting) else {
        continue
      }
      guard let toPlane = try? toFrame.inverted() else { continue }
      try runKernel { () throws(PixelKernelsError) in
        try kernels.warp(
          from.readable, by: toFrame.concatenating(transform).concatenating(toPlane),
          into: to.plane, components: from.components, componentSize: format.sampleBytes)
      }
    }
  }

  private static func steps(_ length: Double, _ step: Int) -> Int {
    max(step, Int(clamping: min(length, 1e6) / Double(step)) * step)
  }
}

extension PixelSize {
  fileprivate var doubled: PixelSize { PixelSize(2 * width, 2 * height) }
}
