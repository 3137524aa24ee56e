internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// Draws the background of `--fit blur`: the frame, scaled to fill the canvas and blurred.
///
/// The frame is averaged down to a thumbnail (every pixel contributes, so nothing flickers), blurred at that
/// size at little cost, and enlarged with a filter that leaves no visible edges. Used by one thread.
final class Backdrop {
  /// The length of the thumbnail's longer side in pixels; at most a quarter of the canvas's longer side is
  /// used.
  private static let thumbnailSide = 64
  /// The radius of the box filter. It is applied to the thumbnail three times, which approximates a Gaussian
  /// with a standard deviation of 4 % of the longer side.
  private static let radius = 2

  private let format: PixelFormat
  private let shrinker: FrameOrienter
  private var thumbnails: FramePool?
  /// One for each of the areas, because an orienter keeps what it made for one size.
  private var enlargers: [FrameOrienter] = []

  init(format: PixelFormat) {
    self.format = format
    shrinker = FrameOrienter(format: format, layout: .init(fit: .fill, filter: .area))
  }

  /// Draws the backdrop of a frame in some areas of `canvas`.
  ///
  /// - Parameters:
  ///   - part: The part of `frame` that has the frame. `frame` may be the canvas, where the frame has been drawn
  ///     already: that is cheaper than to read the whole frame once more.
  ///   - turn: The turn that makes that part upright.
  ///   - pixel: The sample aspect ratio of `frame`.
  ///   - areas: Rectangles of the canvas, in whole chroma samples unless they reach its edge. They may be empty.
  func draw(
    _ part: PixelRect, of frame: borrowing VideoFrame, turned turn: ImageOrientation,
    pixel: Rational, in areas: InlineArray<4, PixelRect>, of canvas: borrowing VideoFrame
  ) throws(UprightError) {
    let thumbnail = try thumbnail(part, of: frame, turned: turn, pixel: pixel, for: canvas)
    guard let small = FrameView(thumbnail) else { throw UprightError(.fault, "no frame to blur") }
    while enlargers.count < areas.count {
      enlargers.append(FrameOrienter(format: format, layout: .init(filter: .bilinear)))
    }
    for index in areas.indices {
      try enlargers[index].draw(small, inside: areas[index], of: canvas)
    }
  }

  /// Returns the blurred thumbnail of a frame.
  private func thumbnail(
    _ part: PixelRect, of frame: borrowing VideoFrame, turned turn: ImageOrientation,
    pixel: Rational, for canvas: borrowing VideoFrame
  ) throws(UprightError) -> VideoFrame {
    let size = thumbnailSize(of: canvas.size)
    let shown = shrinker.placement(
      of: part.size, sampleAspectRatio: pixel, turn: turn, canvas: size
    ).sourceRect
    let rect = PixelRect(
      x: part.x + shown.x, y: part.y + shown.y, width: shown.width, height: shown.height)
    if thumbnails?.size != size { thumbnails = try FramePool(size: size, format: format) }
    guard let thumbnail = try thumbnails?.frame(), let small = FrameView(thumbnail),
      let source = FrameView(frame, rect) ?? FrameView(frame)
    else { throw UprightError(.fault, "no frame to blur") }
    try shrinker.draw(
      source, onto: small, turn: turn, colour: shrinker.drawnColour(of: frame),
      siting: canvas.colour.chromaPosition)
    for plane in small.framePlanes {
      if format.sampleBytes == 1 {
        BoxBlur<UInt8>(radius: Self.radius, passes: 3).run(on: plane)
      } else {
        BoxBlur<UInt16>(radius: Self.radius, passes: 3).run(on: plane)
      }
    }
    return thumbnail
  }

  /// Returns a size with the canvas's shape, no larger than the canvas, with both sides in whole chroma
  /// samples.
  private func thumbnailSize(of canvas: PixelSize) -> PixelSize {
    let longer = max(canvas.width, canvas.height)
    let wanted = min(Self.thumbnailSide, longer / 4)
    func side(_ length: Int, _ step: Int) -> Int {
      max(step, (length * wanted / longer + step / 2) / step * step)
    }
    return PixelSize(
      side(canvas.width, format.alignment.width), side(canvas.height, format.alignment.height))
  }
}

/// Averages each sample with its neighbours in a square. Samples outside the plane repeat the edge.
struct BoxBlur<Sample: FixedWidthInteger & UnsignedInteger> {
  let radius: Int
  let passes: Int

  func run(on target: FramePlane) {
    let plane = target.plane
    let step = target.components
    for _ in 0..<passes {
      for y in 0..<plane.height {
        let row = unsafe (plane.base + y * plane.stride).assumingMemoryBound(to: Sample.self)
        for component in 0..<step {
          unsafe blur(row + component, count: plane.width, stride: step)
        }
      }
      for x in 0..<plane.width * step {
        let column = unsafe plane.base.assumingMemoryBound(to: Sample.self) + x
        unsafe blur(
          column, count: plane.height, stride: plane.stride / MemoryLayout<Sample>.size)
      }
    }
  }

  private func blur(_ line: UnsafeMutablePointer<Sample>, count: Int, stride: Int) {
    guard count > 1 else { return }
    let width = UInt64(2 * radius + 1)
    // The product's upper half is the quotient for all sums of 16-bit samples.
    let inverse = (1 << 32) / width + 1
    unsafe withUnsafeTemporaryAllocation(of: Sample.self, capacity: count + 2 * radius + 1) {
      before in
      for index in before.indices {
        let place = min(max(0, index - radius), count - 1)
        unsafe before.initializeElement(at: index, to: line[place * stride])
      }
      var sum = unsafe before[..<Int(width)].reduce(0) { $0 + UInt64($1) }
      for index in 0..<count {
        unsafe line[index * stride] = Sample(((sum + UInt64(radius)) * inverse) >> 32)
        unsafe sum += UInt64(before[index + Int(width)])
        unsafe sum -= UInt64(before[index])
      }
    }
  }
}
