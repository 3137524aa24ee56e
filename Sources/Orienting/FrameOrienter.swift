package import Orientation
internal import PixelKernels
package import UprightMediaIO
package import UprightPipeline

/// Turns, rescales and places pictures on a canvas, as one `Placement` says. Used by one thread.
///
/// A turn without scaling moves samples and nothing else, so it is exact. Where the size changes too,
/// both are one pass; where the format does as well, libswscale works on the smaller of the two
/// pictures: before the turn when shrinking, after it when enlarging.
package final class FrameOrienter {
  /// How pictures meet the canvas.
  package struct Layout {
    var fit = Fit.fit
    var anchor = Anchor.center
    var background = RGBColour.black
    var filter = Scaler.Filter.bicubic
    var scaler = ScalerChoice.auto

    package init(
      fit: Fit = Fit.fit, anchor: Anchor = Anchor.center, background: RGBColour = RGBColour.black,
      filter: Scaler.Filter = Scaler.Filter.bicubic, scaler: ScalerChoice = ScalerChoice.auto
    ) {
      self.fit = fit
      self.anchor = anchor
      self.background = background
      self.filter = filter
      self.scaler = scaler
    }

    /// Whether the fused pass is used where it can be.
    var isFused: Bool {
      scaler == .fused || (scaler == .auto && CPUFeatures.available.contains(.sse4))
    }
  }

  let layout: Layout
  let format: PixelFormat
  let kernels = PixelKernels.best
  private let scaler = Scaler()
  private let resampler: PictureResampler
  private lazy var backdrop = Backdrop(format: format)
  /// Where chroma sits on the present canvas: the first picture on it decides, for a format can have
  /// one siting only.
  private var established: (canvas: PixelSize, colour: Colour)?
  private var canvases: FramePool?
  private var intermediates: FramePool?
  /// What is warped next, with a margin around it.
  private var posed: FramePool?

  /// - Parameter format: what comes out, whatever goes in.
  package init(format: PixelFormat, layout: Layout) {
    self.format = format
    self.layout = layout
    resampler = PictureResampler(precision: layout.scaler == .fused ? .fast : .full)
  }

  /// The placement that `orient` uses.
  package func placement(
    of size: PixelSize, sampleAspectRatio: Rational, turn: ImageOrientation, canvas: PixelSize
  ) -> Placement {
    Placement(
      source: size, sampleAspectRatio: sampleAspectRatio, orientation: turn, fit: layout.fit,
      anchor: layout.anchor, canvas: canvas, alignment: format.alignment)
  }

  /// Says ahead that chroma sits on `canvas` as it does in `frame` turned so, however the first picture
  /// on it is turned.
  package func site(
    _ canvas: PixelSize, like frame: borrowing VideoFrame, turned turn: ImageOrientation
  ) {
    established = (canvas, drawnColour(of: frame).turned(turn))
  }

  /// `frame` laid out by `placement`: a new picture with the frame's timestamps and colour.
  func orient(
    _ frame: borrowing VideoFrame, by placement: Placement
  ) throws(MediaError) -> VideoFrame {
    let result = try blank(like: frame, on: placement.canvas, turned: placement.orientation)
    guard let source = PictureView(frame, placement.sourceRect) ?? PictureView(frame),
      let window = PictureView(result, placement.canvasRect)
    else {
      throw MediaError(.fault, "a \(frame.size) picture cannot be placed on \(placement.canvas)")
    }
    try draw(
      source, onto: window, turn: placement.orientation, colour: drawnColour(of: frame),
      siting: result.colour.chromaPosition)
    // After the picture: libswscale writes whole vectors, past the end of a row.
    if !placement.coversCanvas {
      try surround(
        placement.canvasRect, of: result, with: frame, turned: placement.orientation,
        pixel: placement.pixelShape)
    }
    return result
  }

  /// A picture of the canvas's size with the frame's timestamps and colour; its samples are undefined.
  func blank(
    like frame: borrowing VideoFrame, on canvas: PixelSize, turned turn: ImageOrientation
  ) throws(MediaError) -> VideoFrame {
    var result = try pool(&canvases, size: canvas, format: format).frame()
    try result.adoptProperties(of: frame)
    result.sampleAspectRatio = .one
    result.forcesKeyframe = false
    result.colour = sited(drawnColour(of: frame).turned(turn), on: canvas)
    return result
  }

  /// What the samples of `frame` mean once they are in our format.
  func drawnColour(of frame: borrowing VideoFrame) -> Colour {
    frame.format.isRGB && !format.isRGB ? frame.colour.asYUV : frame.colour
  }

  /// A picture to draw on before it is warped.
  func posedPicture(_ size: PixelSize) throws(MediaError) -> VideoFrame {
    try pool(&posed, size: size, format: format).frame()
  }

  private func sited(_ colour: Colour, on canvas: PixelSize) -> Colour {
    if let established, established.canvas == canvas {
      return colour.sited(like: established.colour)
    }
    established = (canvas, colour)
    return colour
  }

  // MARK: - One picture

  func draw(
    _ source: PictureView, onto target: PictureView, turn: ImageOrientation, colour: Colour,
    siting: ChromaPosition
  ) throws(MediaError) {
    let uprightSize = turn.applied(to: source.size)
    if uprightSize == target.size, turned(source.format, by: turn) == target.format {
      return try move(source, onto: target, by: turn)
    }
    let stored = colour.chromaPosition
    if layout.isFused,
      try resampler.draw(
        source, onto: target, turn: turn, stored: stored, siting: siting, filter: layout.filter)
    {
      return
    }
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

  /// Draws what stands around `rect`: the background, or the picture blurred.
  ///
  /// - Parameter pixel: the width of a stored pixel over its height.
  func surround(
    _ rect: PixelRect, of canvas: borrowing VideoFrame, with frame: borrowing VideoFrame,
    turned turn: ImageOrientation, pixel: Rational
  ) throws(MediaError) {
    guard layout.fit == .blur else {
      return fillMargins(of: canvas, around: rect, colour: canvas.colour)
    }
    let blurred = try backdrop.picture(of: frame, turned: turn, pixel: pixel, on: canvas)
    for margin in canvas.size.margins(around: rect) {
      guard let from = PictureView(blurred, margin), let to = PictureView(canvas, margin) else {
        continue
      }
      try move(from, onto: to, by: .up)
    }
  }

  /// Fills a canvas around `rect` with the background colour.
  func fillMargins(of canvas: borrowing VideoFrame, around rect: PixelRect, colour: Colour) {
    guard let pattern = FillPattern(layout.background, format: format, colour: colour)
    else { return }
    for margin in canvas.size.margins(around: rect) {
      if let view = PictureView(canvas, margin) { pattern.fill(view) }
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

extension PixelSize {
  /// What a picture of this size has around `rect`: above, below, left and right of it.
  func margins(around rect: PixelRect) -> [PixelRect] {
    let below = rect.y + rect.height
    let right = rect.x + rect.width
    return [
      PixelRect(x: 0, y: 0, width: width, height: rect.y),
      PixelRect(x: 0, y: below, width: width, height: height - below),
      PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height),
      PixelRect(x: right, y: rect.y, width: width - right, height: rect.height),
    ].filter { $0.width > 0 && $0.height > 0 }
  }
}
