package import UprightOrientation
package import UprightKernels
package import UprightMediaIO

/// Turns, scales and places frames on a canvas, according to a `Placement`. Used by one thread.
///
/// A turn without scaling only moves samples, so it is exact. If the size changes too, both are done in one
/// pass. If the format changes as well, libswscale works on the smaller of the two frames: before the turn
/// when shrinking, after it when enlarging.
package final class FrameOrienter {
  /// How frames are laid out on the canvas.
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

    /// Whether turning and scaling are done in one pass where possible.
    var isFused: Bool {
      scaler == .fused
        || (scaler == .auto && !CPUFeatures.available.isDisjoint(with: [.sse4, .neon]))
    }
  }

  /// How frames are laid out from now on. The filter and the scaler can't change.
  package var layout: Layout
  let format: PixelFormat
  let kernels = PixelKernels.best
  private let scaler = Scaler()
  private let pass: FramePass
  private lazy var backdrop = Backdrop(format: format)
  /// The chroma siting of the current canvas. The first frame on it decides, because a format has only one
  /// siting.
  private var established: (canvas: PixelSize, colour: Colour)?
  /// What untagged frames are tagged as: a colour, or none. `nil` before the first of them.
  private var assumed: Colour??
  private var canvases: FramePool?
  private var intermediates: FramePool?
  /// Frames to be warped, with a margin around them.
  private var posed: FramePool?

  /// - Parameter format: The pixel format of the output, whatever the input's format is.
  package init(format: PixelFormat, layout: Layout) {
    self.format = format
    self.layout = layout
    pass = FramePass()
  }

  /// Returns the placement for `orient`.
  package func placement(
    of size: PixelSize, sampleAspectRatio: Rational, turn: ImageOrientation, focus: Point? = nil,
    canvas: PixelSize
  ) -> Placement {
    Placement(
      source: size, sampleAspectRatio: sampleAspectRatio, orientation: turn, fit: layout.fit,
      anchor: layout.anchor, focus: focus, canvas: canvas, alignment: format.alignment)
  }

  /// Sets the chroma siting on `canvas` to that of `frame` turned by `turn`, however the first frame on the
  /// canvas is turned.
  package func site(
    _ canvas: PixelSize, like frame: borrowing VideoFrame, turned turn: ImageOrientation
  ) {
    established = (canvas, drawnColour(of: frame).turned(turn))
  }

  /// Returns `frame` laid out by `placement`: a new frame with the timestamps and colour of `frame`.
  package func orient(
    _ frame: borrowing VideoFrame, by placement: Placement
  ) throws(UprightError) -> VideoFrame {
    let result = try blank(like: frame, on: placement.canvas, turned: placement.orientation)
    guard let source = FrameView(frame, placement.sourceRect) ?? FrameView(frame),
      let window = FrameView(result, placement.canvasRect)
    else {
      throw UprightError(.fault, "a \(frame.size) frame can't be placed on \(placement.canvas)")
    }
    try draw(
      source, onto: window, turn: placement.orientation, colour: drawnColour(of: frame),
      siting: result.colour.chromaPosition)
    // Draw the margins after the frame: libswscale writes whole vectors, past the end of a row.
    if !placement.coversCanvas {
      try surround(placement, on: result)
    }
    return result
  }

  /// Returns a frame of the canvas's size with the timestamps and colour of `frame`. Its samples are
  /// undefined.
  func blank(
    like frame: borrowing VideoFrame, on canvas: PixelSize, turned turn: ImageOrientation
  ) throws(UprightError) -> VideoFrame {
    var result = try pool(&canvases, size: canvas, format: format).frame()
    try result.copyProperties(of: frame)
    result.sampleAspectRatio = .one
    result.forcesKeyframe = false
    result.colour = sited(
      tagged(drawnColour(of: frame), frame, on: canvas).turned(turn), on: canvas)
    return result
  }

  /// Returns the colour description of `frame` after conversion to `format`.
  func drawnColour(of frame: borrowing VideoFrame) -> Colour {
    frame.format.isRGB && !format.isRGB ? frame.colour.asYUV : frame.colour
  }

  /// Returns the colour with a tag if it has none and the canvas has a size at which players assume another one
  /// than at the frame's. The first frame decides for all, so that a sender that adapts its size changes no
  /// format.
  private func tagged(
    _ colour: Colour, _ frame: borrowing VideoFrame, on canvas: PixelSize
  ) -> Colour {
    guard colour.isUntagged, !format.isRGB, !frame.format.isMonochrome else { return colour }
    if assumed == nil {
      let own = Colour.assumed(for: frame.size)
      let other = Colour.assumed(for: canvas)
      assumed = .some(own.coding == other.coding ? nil : own)
    }
    return assumed?.map { colour.completed(by: $0) } ?? colour
  }

  /// Returns a frame to draw on before warping.
  func posedFrame(_ size: PixelSize) throws(UprightError) -> VideoFrame {
    try pool(&posed, size: size, format: format).frame()
  }

  private func sited(_ colour: Colour, on canvas: PixelSize) -> Colour {
    if let established, established.canvas == canvas {
      return colour.sited(like: established.colour)
    }
    established = (canvas, colour)
    return colour
  }

  // MARK: - One frame

  func draw(
    _ source: FrameView, onto target: FrameView, turn: ImageOrientation, colour: Colour,
    siting: ChromaPosition
  ) throws(UprightError) {
    let uprightSize = turn.applied(to: source.size)
    if uprightSize == target.size, turned(source.format, by: turn) == target.format {
      return try move(source, onto: target, by: turn)
    }
    let stored = colour.chromaPosition
    if layout.isFused,
      try drawInOnePass(source, onto: target, turn: turn, stored: stored, siting: siting)
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
      let intermediate = try pool(&intermediates, size: uprightSize, format: lying).frame()
      guard let middle = FrameView(intermediate) else { throw noPlanes(lying) }
      try move(source, onto: middle, by: turn)
      try scaler.scale(
        middle, onto: target, colour: colour,
        chroma: .init(from: stored.turned(turn), to: siting), filter: layout.filter)
      return
    }
    guard let lying = turned(target.format, by: turn) else { throw noPlanes(target.format) }
    let size = turn.applied(to: target.size)
    let intermediate = try pool(&intermediates, size: size, format: lying).frame()
    guard let middle = FrameView(intermediate) else { throw noPlanes(lying) }
    try scaler.scale(
      source, onto: middle, colour: colour,
      chroma: .init(from: stored, to: siting.turned(turn.inverse)),
      filter: layout.filter)
    try move(middle, onto: target, by: turn)
  }

  /// Draws what an area of a canvas shows of a frame that fills the whole canvas.
  ///
  /// - Parameter area: In whole chroma samples unless it reaches the canvas's edge. It may be empty.
  func draw(
    _ source: FrameView, inside area: PixelRect, of canvas: borrowing VideoFrame
  ) throws(UprightError) {
    // There is no view of an empty area.
    guard let target = FrameView(canvas, area) else { return }
    let siting = canvas.colour.chromaPosition
    let part = FramePart(x: area.x, y: area.y, frame: canvas.size)
    if layout.isFused,
      try drawInOnePass(source, onto: target, turn: .up, stored: siting, siting: siting, part: part)
    {
      return
    }
    // libswscale draws whole frames, and writes whole vectors, past the end of a row.
    let large = try pool(&intermediates, size: canvas.size, format: format).frame()
    guard let whole = FrameView(large), let drawn = FrameView(large, area) else {
      throw noPlanes(format)
    }
    try draw(source, onto: whole, turn: .up, colour: canvas.colour, siting: siting)
    try move(drawn, onto: target, by: .up)
  }

  /// Returns the format that results from turning each plane of `format`; `nil` if its planes can't be
  /// turned, or no format has the resulting subsampling.
  private func turned(_ format: PixelFormat, by turn: ImageOrientation) -> PixelFormat? {
    guard format.layout != nil else { return nil }
    return turn.swapsAxes ? format.transposed : format
  }

  /// Returns `false`, and draws nothing, if the formats or the filter need libswscale.
  private func drawInOnePass(
    _ source: FrameView, onto target: FrameView, turn: ImageOrientation, stored: ChromaPosition,
    siting: ChromaPosition, part: FramePart? = nil
  ) throws(UprightError) -> Bool {
    guard let filter = ResampleFilter(layout.filter), let from = source.planes,
      let to = target.planes, from.layout.turned(turn) == to.layout
    else { return false }
    return try runKernel { () throws(PixelKernelsError) in
      try pass.draw(
        PlaneSet(from), turned: turn, onto: to, stored: stored, siting: siting, filter: filter,
        part: part)
    }
  }

  /// Copies every sample to its place in the target.
  private func move(
    _ source: FrameView, onto target: FrameView, by turn: ImageOrientation
  ) throws(UprightError) {
    guard let from = source.planes, let to = target.planes else { throw noPlanes(source.format) }
    try runKernel { () throws(PixelKernelsError) in
      try pass.move(PlaneSet(from), by: turn, onto: to)
    }
  }

  private func noPlanes(_ format: PixelFormat) -> UprightError {
    UprightError(
      .unavailable, "frames in \(format) can't be turned",
      remedy: "convert them to yuv420p first")
  }

  // MARK: - The canvas

  /// Draws the area around the frame on a canvas: the background colour, or the blurred frame.
  private func surround(
    _ placement: Placement, on canvas: borrowing VideoFrame
  ) throws(UprightError) {
    guard layout.fit == .blur else {
      return fillMargins(of: canvas, around: placement.canvasRect, colour: canvas.colour)
    }
    try backdrop.draw(
      placement.canvasRect, of: canvas, turned: .up, pixel: .one,
      in: canvas.size.margins(around: placement.canvasRect), of: canvas)
  }

  /// Draws what is behind a frame on a canvas: the background colour, or the blurred frame.
  ///
  /// - Parameter placement: The placement of the frame when it isn't turned further.
  func drawBackground(
    of frame: borrowing VideoFrame, at placement: Placement, on canvas: borrowing VideoFrame
  ) throws(UprightError) {
    let nowhere = PixelRect(x: 0, y: 0, width: 0, height: 0)
    guard layout.fit == .blur else {
      return fillMargins(of: canvas, around: nowhere, colour: canvas.colour)
    }
    try backdrop.draw(
      PixelRect(frame.size), of: frame, turned: placement.orientation, pixel: placement.pixelShape,
      in: canvas.size.margins(around: nowhere), of: canvas)
  }

  /// Fills the canvas around `rect` with the background colour.
  func fillMargins(of canvas: borrowing VideoFrame, around rect: PixelRect, colour: Colour) {
    guard let planes = FrameView(canvas)?.planes else { return }
    FillPattern(layout.background, planes.layout, colour.coding).fill(planes, around: rect)
  }

  private func pool(
    _ slot: inout FramePool?, size: PixelSize, format: PixelFormat
  ) throws(UprightError) -> FramePool {
    if let pool = slot, pool.size == size, pool.format == format { return pool }
    let pool = try FramePool(size: size, format: format)
    slot = pool
    return pool
  }
}

extension ResampleFilter {
  /// The same kernel; `nil` if only libswscale has it.
  fileprivate init?(_ filter: Scaler.Filter) {
    switch filter {
    case .bicubic: self = .bicubic
    case .bilinear: self = .bilinear
    case .area: self = .area
    case .lanczos: self = .lanczos
    case .point: return nil
    }
  }
}
