internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// Makes the background of `--fit blur`: the frame, scaled to fill the canvas and blurred.
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
  private let enlarger = Scaler()
  private var pool: FramePool?

  init(format: PixelFormat) {
    self.format = format
    shrinker = FrameOrienter(format: format, layout: .init(fit: .fill, filter: .area))
  }

  /// Returns the backdrop of `frame` in the size of `canvas`.
  ///
  /// - Parameter pixel: The sample aspect ratio of the stored frame.
  func frame(
    of frame: borrowing VideoFrame, turned turn: ImageOrientation, pixel: Rational,
    on canvas: borrowing VideoFrame
  ) throws(UprightError) -> VideoFrame {
    let size = thumbnailSize(of: canvas.size)
    let thumbnail = try shrinker.orient(
      frame,
      by: shrinker.placement(of: frame.size, sampleAspectRatio: pixel, turn: turn, canvas: size))
    if pool?.size != canvas.size { pool = try FramePool(size: canvas.size, format: format) }
    guard let blurred = try pool?.frame(), let small = FrameView(thumbnail),
      let large = FrameView(blurred)
    else { throw UprightError(.fault, "no frame to blur") }
    for plane in small.framePlanes {
      if format.sampleBytes == 1 {
        BoxBlur<UInt8>(radius: Self.radius, passes: 3).run(on: plane)
      } else {
        BoxBlur<UInt16>(radius: Self.radius, passes: 3).run(on: plane)
      }
    }
    let siting = canvas.colour.chromaPosition
    try enlarger.scale(
      small, onto: large, colour: canvas.colour, chroma: .init(from: siting, to: siting),
      filter: .bilinear)
    return blurred
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
    let before = (0..<count).map { unsafe Int(line[$0 * stride]) }
    let width = 2 * radius + 1
    func sample(_ index: Int) -> Int { before[min(max(0, index), count - 1)] }
    var sum = (-radius...radius).reduce(0) { $0 + sample($1) }
    for index in 0..<count {
      unsafe line[index * stride] = Sample((sum + radius) / width)
      sum += sample(index + radius + 1) - sample(index - radius)
    }
  }
}
