internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// A still picture prepared for one canvas: its samples in the canvas's format, the alpha of each sample, and
/// its place.
final class PreparedOverlay {
  /// The place on the canvas. Its corner is on whole chroma samples, and it ends inside the canvas.
  let rect: PixelRect
  private let picture: VideoFrame
  /// The alpha of each plane, one byte per element.
  private let alphas: [SharedFrame]

  /// - Parameters:
  ///   - turn: How the picture is turned on the canvas.
  ///   - rect: The place inside the canvas, with its corner on whole chroma samples.
  ///   - canvas: A frame with the canvas's format, colour and siting.
  init(
    _ still: StillImage, turn: ImageOrientation, rect: PixelRect, format: PixelFormat,
    like canvas: borrowing VideoFrame
  ) throws(UprightError) {
    self.rect = rect
    let pixels = FrameOrienter(format: .rgba, layout: .init(fit: .stretch))
    let turned = try pixels.orient(
      still.picture,
      by: pixels.placement(
        of: still.size, sampleAspectRatio: .one, turn: turn, canvas: rect.size))
    let opaque = try FramePool(size: rect.size, format: format).frame()
    let alpha = try FramePool(size: rect.size, format: .gray).frame()
    guard let source = FrameView(turned), let target = FrameView(opaque) else {
      throw UprightError(.fault, "a still picture can't be drawn in \(format)")
    }
    let siting = canvas.colour.chromaPosition
    try Scaler().scale(
      source, onto: target, colour: canvas.colour, chroma: .init(from: siting, to: siting),
      filter: .bicubic)
    Self.copyAlpha(of: turned, into: alpha)
    picture = opaque
    alphas = try target.framePlanes.map { (plane) throws(UprightError) in
      SharedFrame(try Self.average(alpha, over: plane))
    }
  }

  /// Draws the picture over `canvas`, whose memory must not be shared.
  func draw(on canvas: borrowing VideoFrame, with kernels: PixelKernels) throws(UprightError) {
    guard let source = FrameView(picture), let target = FrameView(canvas, rect) else {
      throw UprightError(.fault, "a still picture is outside the canvas")
    }
    for (index, (from, to)) in zip(source.framePlanes, target.framePlanes).enumerated() {
      guard let alpha = FrameView(alphas[index].frame)?.framePlanes.first else { continue }
      try runKernel { () throws(PixelKernelsError) in
        try kernels.composite(
          from.readable, alpha: alpha.readable, into: to.plane, components: from.components,
          componentSize: source.format.sampleBytes)
      }
    }
  }

  private static func copyAlpha(of pixels: borrowing VideoFrame, into alpha: borrowing VideoFrame) {
    guard let from = pixels.plane(0), let to = alpha.plane(0) else { return }
    for y in 0..<pixels.size.height {
      for x in 0..<pixels.size.width {
        unsafe (to.start[y * to.stride + x] = from.start[y * from.stride + 4 * x + 3])
      }
    }
  }

  /// Returns the mean alpha of the pixels that each element of a plane covers.
  private static func average(
    _ alpha: borrowing VideoFrame, over plane: FramePlane
  ) throws(UprightError) -> VideoFrame {
    let (width, height) = (1 << plane.layout.shiftX, 1 << plane.layout.shiftY)
    let size = PixelSize(plane.plane.width, plane.plane.height)
    let result = try FramePool(size: size, format: .gray).frame()
    guard let from = alpha.plane(0), let to = result.plane(0) else { return result }
    for y in 0..<size.height {
      for x in 0..<size.width {
        var sum = 0
        for row in y * height..<min((y + 1) * height, alpha.size.height) {
          for column in x * width..<min((x + 1) * width, alpha.size.width) {
            sum += unsafe Int(from.start[row * from.stride + column])
          }
        }
        // Pixels beyond the edge of the picture count as transparent.
        unsafe (to.start[y * to.stride + x] = UInt8((sum + width * height / 2) / (width * height)))
      }
    }
    return result
  }
}
