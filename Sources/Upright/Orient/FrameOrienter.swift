internal import MediaIO
internal import Orientation
internal import PixelKernels

/// Turns, rescales and places pictures on a canvas, as one `Placement` says. Used by one thread.
///
/// A turn without scaling moves samples and nothing else, so it is exact. Where the size changes too,
/// libswscale works on the smaller of the two pictures: before the turn when shrinking, after it when
/// enlarging.
final class FrameOrienter {
  /// How pictures meet the canvas.
  struct Layout {
    var fit = Fit.fit
    var anchor = Anchor.center
    var background = RGBColour.black
    var filter = Scaler.Filter.bicubic
  }

  private let layout: Layout
  private let format: PixelFormat
  private let kernels = PixelKernels.best
  private let scaler = Scaler()
  /// Where chroma sits on the present canvas: the first picture on it decides, for a format can have
  /// one siting only.
  private var established: (canvas: PixelSize, colour: Colour)?
  private var canvases: FramePool?
  private var intermediates: FramePool?

  /// - Parameter format: what comes out, whatever goes in.
  init(format: PixelFormat, layout: Layout) {
    self.format = format
    self.layout = layout
  }

  /// The placement that `orient` uses.
  func placement(
    of size: PixelSize, sampleAspectRatio: Rational, turn: ImageOrientation, canvas: PixelSize
  ) -> Placement {
    Placement(
      source: size, sampleAspectRatio: sampleAspectRatio, orientation: turn, fit: layout.fit,
      anchor: layout.anchor, canvas: canvas, alignment: format.alignment)
  }

  /// `frame` laid out by `placement`: a new picture with the frame's timestamps and colour.
  func orient(
    _ frame: borrowing VideoFrame, by placement: Placement
  ) throws(MediaError) -> VideoFrame {
    var result = try pool(&canvases, size: placement.canvas, format: format).frame()
    try result.adoptProperties(of: frame)
    result.sampleAspectRatio = .one
    result.forcesKeyframe = false
    let colour = frame.format.isRGB && !format.isRGB ? frame.colour.asYUV : frame.colour
    let target = sited(colour.turned(placement.orientation), on: placement.canvas)
    result.colour = target

    guard let source = PictureView(frame, placement.sourceRect) ?? PictureView(frame),
      let window = PictureView(result, placement.canvasRect)
    else {
      throw MediaError(.fault, "a \(frame.size) picture cannot be placed on \(placement.canvas)")
    }
    try draw(
      source, onto: window, turn: placement.orientation, colour: colour,
      siting: target.chromaPosition)
    // After the picture: libswscale writes whole vectors, past the end of a row.
    fillMargins(of: result, around: placement.canvasRect, colour: colour)
    return result
  }

  private func sited(_ colour: Colour, on canvas: PixelSize) -> Colour {
    if let established, established.canvas == canvas {
      return colour.sited(like: established.colour)
    }
    established = (canvas, colour)
    return colour
  }

  // MARK: - One picture

  private func draw(
    _ source: PictureView, onto target: PictureView, turn: ImageOrientation, colour: Colour,
    siting: ChromaPosition
  ) throws(MediaError) {
    let uprightSize = turn.applied(to: source.size)
    if uprightSize == target.size, turned(source.format, by: turn) == target.format {
      return try move(source, onto: target, by: turn)
    }
    let stored = colour.chromaPosition
    if turn == .up {
      return try scaler.scale(
        source, onto: target, colour: colour,
        chroma: .init(from: stored, to: siting), filter: layout.filter)
    }
    let isEnlarging =
      target.size.width * target.size.height > source.size.width * source.size.height
    if isEnlarging, let lying = turned(source.format, by: turn) {
      let picture = try pool(&intermediates, size: uprightSize, format: lying).frame()
      guard let middle = PictureView(picture) else { throw noPlanes(lying) }
      try move(source, onto: middle, by: turn)
      try scaler.scale(
        middle, onto: target, colour: colour,
        chroma: .init(from: stored.turned(turn), to: siting), filter: layout.filter)
      return
    }
    guard let lying = turned(target.format, by: turn) else { throw noPlanes(target.format) }
    let size = turn.applied(to: target.size)
    let picture = try pool(&intermediates, size: size, format: lying).frame()
    guard let middle = PictureView(picture) else { throw noPlanes(lying) }
    try scaler.scale(
      source, onto: middle, colour: colour,
      chroma: .init(from: stored, to: siting.turned(turn.inverse)),
      filter: layout.filter)
    try move(middle, onto: target, by: turn)
  }

  /// What `format` becomes when each of its planes is turned; nil where it has no planes to turn, or
  /// no format is subsampled that way.
  private func turned(_ format: PixelFormat, by turn: ImageOrientation) -> PixelFormat? {
    guard format.planes != nil else { return nil }
    return turn.swapsAxes ? format.transposed : format
  }

  /// Moves every sample to its place.
  private func move(
    _ source: PictureView, onto target: PictureView, by turn: ImageOrientation
  ) throws(MediaError) {
    guard let from = source.format.planes, let to = target.format.planes, from.count == to.count
    else { throw noPlanes(source.format) }
    for index in from.indices {
      let size = source.planeSize(from[index])
      let room = target.planeSize(to[index])
      let read = unsafe PlaneView(
        source.starts[index], stride: source.strides[index], width: size.width,
        height: size.height)
      let write = unsafe MutablePlaneView(
        target.starts[index], stride: target.strides[index], width: room.width,
        height: room.height)
      do throws(PixelKernelsError) {
        try kernels.turn(read, by: turn, into: write, elementSize: from[index].elementSize)
      } catch {
        throw MediaError(.fault, error.message)
      }
    }
  }

  private func noPlanes(_ format: PixelFormat) -> MediaError {
    MediaError(
      .unavailable, "pictures in \(format) cannot be turned",
      remedy: "convert them to yuv420p first")
  }

  // MARK: - The canvas

  /// Fills the canvas around `rect` with the background.
  private func fillMargins(of frame: borrowing VideoFrame, around rect: PixelRect, colour: Colour) {
    let size = frame.size
    guard rect != PixelRect(size),
      let pattern = FillPattern(layout.background, format: format, colour: colour)
    else { return }
    let below = rect.y + rect.height
    let right = rect.x + rect.width
    let margins = [
      PixelRect(x: 0, y: 0, width: size.width, height: rect.y),
      PixelRect(x: 0, y: below, width: size.width, height: size.height - below),
      PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height),
      PixelRect(x: right, y: rect.y, width: size.width - right, height: rect.height),
    ]
    for margin in margins {
      if let view = PictureView(frame, margin) { pattern.fill(view) }
    }
  }

  private func pool(
    _ slot: inout FramePool?, size: PixelSize, format: PixelFormat
  ) throws(MediaError) -> FramePool {
    if let pool = slot, pool.size == size, pool.format == format { return pool }
    let pool = try FramePool(size: size, format: format)
    slot = pool
    return pool
  }
}
