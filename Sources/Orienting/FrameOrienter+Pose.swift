internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// Pictures at any angle: scaled and stood by the nearest quarter turn first, as every picture is, then
/// turned by the rest in one warp.
extension FrameOrienter {
  /// `frame` on `canvas` in `pose`: a new picture with the frame's timestamps and colour.
  ///
  /// - Parameter resting: how the picture lies when it has come to rest: what is laid behind it, if
  ///   anything, lies so from the start.
  func orient(
    _ frame: borrowing VideoFrame, in pose: Pose, on canvas: PixelSize, resting: Placement
  ) throws(MediaError) -> VideoFrame {
    let result = try blank(like: frame, on: canvas, turned: pose.orientation)
    let upright = pose.orientation.applied(to: frame.size)
    let scale = Size(
      width: pose.size.width / Double(upright.width),
      height: pose.size.height / Double(upright.height))
    try surround(
      PixelRect(x: 0, y: 0, width: 0, height: 0), of: result, with: frame,
      turned: resting.orientation, pixel: resting.pixelShape)
    guard let part = pose.visiblePart(of: frame.size, on: canvas, grid: frame.format.alignment)
    else { return result }
    let stood = pose.orientation.applied(to: part.size)
    let drawn = PixelSize(
      Self.steps(Double(stood.width) * scale.width, format.alignment.width),
      Self.steps(Double(stood.height) * scale.height, format.alignment.height))
    let margin = layout.fit == .blur ? PixelSize(0, 0) : format.alignment.doubled
    let rect = PixelRect(
      x: margin.width, y: margin.height, width: drawn.width, height: drawn.height)
    let scaled = try posedPicture(
      PixelSize(drawn.width + 2 * margin.width, drawn.height + 2 * margin.height))
    guard let source = PictureView(frame, part) ?? PictureView(frame),
      let window = PictureView(scaled, rect), let from = PictureView(scaled),
      let to = PictureView(result)
    else { throw MediaError(.fault, "a \(frame.size) picture cannot be turned on \(canvas)") }
    try draw(
      source, onto: window, turn: pose.orientation, colour: drawnColour(of: frame),
      siting: result.colour.chromaPosition)
    // So that the picture's edges are blended with the background, not cut in steps.
    fillMargins(of: scaled, around: rect, colour: result.colour)

    let stored = AffineTransform(translationX: Double(-rect.x), y: Double(-rect.y))
      .concatenating(
        AffineTransform(
          scaleX: Double(stood.width) / Double(drawn.width),
          y: Double(stood.height) / Double(drawn.height))
      )
      .concatenating(AffineTransform(pose.orientation.inverse, size: stood))
      .concatenating(AffineTransform(translationX: Double(part.x), y: Double(part.y)))
    try warp(
      from, onto: to, by: stored.concatenating(pose.transform(of: frame.size)),
      siting: result.colour.chromaPosition)
    return result
  }

  /// Warps plane by plane; both pictures have our format and siting.
  private func warp(
    _ source: PictureView, onto target: PictureView, by transform: AffineTransform,
    siting: ChromaPosition
  ) throws(MediaError) {
    for (from, to) in zip(source.picturePlanes, target.picturePlanes) {
      let picture = format.transform(of: from.layout, siting: siting)
      guard let plane = try? picture.inverted() else { continue }
      try runKernel { () throws(PixelKernelsError) in
        try kernels.warp(
          from.readable, by: picture.concatenating(transform).concatenating(plane),
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
