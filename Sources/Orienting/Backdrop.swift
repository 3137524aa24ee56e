internal import Orientation
internal import PixelKernels
internal import UprightMediaIO

/// Makes what `--fit blur` lays behind a picture: the picture itself, filling the canvas and blurred.
///
/// All of it goes through a thumbnail: averaged down (each pixel has its part, so nothing flickers),
/// blurred there for next to nothing, and enlarged without an edge. Used by one thread.
final class Backdrop {
  /// The longer side of the thumbnail in pixels, at most a quarter of the canvas's.
  private static let thumbnailSide = 64
  /// Half the width of the box that is run over the thumbnail, three times: together nearly a Gaussian
  /// with a deviation of 4 % of the longer side.
  private static let radius = 2

  private let format: PixelFormat
  private let shrinker: FrameOrienter
  private let enlarger = Scaler()
  private var pool: FramePool?

  init(format: PixelFormat) {
    self.format = format
    shrinker = FrameOrienter(format: format, layout: .init(fit: .fill, filter: .area))
  }

  /// The backdrop of `frame`, of the canvas's size.
  ///
  /// - Parameter pixel: the width of a stored pixel over its height.
  func picture(
    of frame: borrowing VideoFrame, turned turn: ImageOrientation, pixel: Rational,
    on canvas: borrowing VideoFrame
  ) throws(MediaError) -> VideoFrame {
    let size = thumbnailSize(of: canvas.size)
    let thumbnail = try shrinker.orient(
      frame,
      by: shrinker.placement(of: frame.size, sampleAspectRatio: pixel, turn: turn, canvas: size))
    if pool?.size != canvas.size { pool = try FramePool(size: canvas.size, format: format) }
    guard let picture = try pool?.frame(), let small = PictureView(thumbnail),
      let large = PictureView(picture)
    else { throw MediaError(.fault, "no picture to blur") }
    for plane in small.picturePlanes {
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
    return picture
  }

  /// The canvas's shape, no larger than the canvas, both sides whole chroma samples.
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

/// Averages each sample with its neighbours in a square; what lies outside counts as the edge.
struct BoxBlur<Sample: FixedWidthInteger & UnsignedInteger> {
  let radius: Int
  let passes: Int

  func run(on picture: PicturePlane) {
    let plane = picture.plane
    let step = picture.components
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
