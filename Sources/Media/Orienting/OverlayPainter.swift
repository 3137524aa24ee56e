package import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// The still pictures of a session, decoded before its first frame.
package struct SessionStills {
  /// The picture that is shown while the camera is off.
  package let slate: StillImage?
  /// The overlays that are drawn over every frame, the lowest first.
  let overlays: [(Overlay, StillImage)]

  /// The slate of one, and the overlays of another.
  package init(slateOf slates: SessionStills, overlaysOf overlays: SessionStills) {
    slate = slates.slate
    self.overlays = overlays.overlays
  }

  /// - Throws: `noInput` if a file doesn't exist, `badData` if it is not a picture.
  package init(_ options: TranscodeOptions) throws(UprightError) {
    slate = try options.slate.map { (path) throws(UprightError) in try StillImage(path: path) }
    overlays = try options.overlays.map { (overlay) throws(UprightError) in
      (overlay, try StillImage(path: overlay.path))
    }
  }
}

/// Draws the overlays over frames. Their appearance is computed once per canvas.
struct OverlayPainter {
  private let overlays: [(overlay: Overlay, still: StillImage)]
  private let format: PixelFormat
  private var stamps: [PreparedOverlay] = []
  private var made: (canvas: PixelSize, window: ImageOrientation, colour: Colour)?
  private var copies: FramePool?

  init(_ overlays: [(Overlay, StillImage)], format: PixelFormat) {
    self.overlays = overlays.map { ($0.0, $0.1) }
    self.format = format
  }

  /// Returns `frame` with the overlays drawn on it.
  ///
  /// - Parameter window: The orientation that turns the device's screen onto the canvas.
  mutating func paint(
    _ frame: consuming VideoFrame, window: ImageOrientation, with orienter: FrameOrienter
  ) throws(UprightError) -> VideoFrame {
    if overlays.isEmpty { return frame }
    try prepare(frame, window)
    // Draw on a copy: a held frame must not change, and copying any other frame costs little.
    if copies?.size != frame.size { copies = try FramePool(size: frame.size, format: format) }
    guard let copies else { return frame }
    let painted = try frame.copy(from: copies)
    for stamp in stamps { try stamp.draw(on: painted, with: orienter.kernels) }
    return painted
  }

  private mutating func prepare(
    _ frame: borrowing VideoFrame, _ window: ImageOrientation
  ) throws(UprightError) {
    let (canvas, colour) = (frame.size, frame.colour)
    if let made, made.canvas == canvas, made.window == window, made.colour == colour { return }
    var stamps: [PreparedOverlay] = []
    for (overlay, still) in overlays {
      let turn = overlay.attachment == .window ? window : .up
      guard let rect = overlay.rect(of: still.size, turned: turn, on: canvas, format.alignment)
      else { continue }
      stamps.append(
        try PreparedOverlay(still, turn: turn, rect: rect, format: format, like: frame))
    }
    self.stamps = stamps
    made = (canvas, window, colour)
  }
}

extension Overlay {
  /// Returns the place of a picture of size `still` on `canvas`, at least `margin` from every edge; `nil` if
  /// there is no room. An overlay that is too large is scaled down with its aspect ratio kept.
  ///
  /// - Parameter turn: How the overlay, and the edges that it is anchored to, are turned on the canvas.
  func rect(
    of still: PixelSize, turned turn: ImageOrientation, on canvas: PixelSize, _ grid: PixelSize
  ) -> PixelRect? {
    let room = turn.inverse.applied(
      to: PixelSize(canvas.width - 2 * margin, canvas.height - 2 * margin))
    guard room.width >= grid.width, room.height >= grid.height else { return nil }
    // The scale for the upright picture. With a size, the picture is scaled up or down to fit into it.
    var scale = min(
      Double(room.width) / Double(still.width), Double(room.height) / Double(still.height))
    if let size {
      scale = min(
        scale, Double(size.width) / Double(still.width),
        Double(size.height) / Double(still.height))
    } else {
      scale = min(scale, 1)
    }
    let lying = turn.applied(to: still)
    func length(_ native: Int, _ room: Int) -> Int {
      min(room, max(1, Int(clamping: Double(native) * scale)))
    }
    let upright = turn.applied(to: room)
    let shown = PixelSize(length(lying.width, upright.width), length(lying.height, upright.height))
    // The anchor's fractions, turned about the centre.
    let place = Point(x: anchor.x - 0.5, y: anchor.y - 0.5).applying(
      AffineMatrix(quarterTurnsClockwise: turn.quarterTurns))
    func offset(_ fraction: Double, _ canvas: Int, _ length: Int, _ step: Int) -> Int {
      let spare = Double(canvas - 2 * margin - length)
      return (margin + Int(clamping: min(spare, 1e6) * (fraction + 0.5))) / step * step
    }
    return PixelRect(
      x: offset(place.x, canvas.width, shown.width, grid.width),
      y: offset(place.y, canvas.height, shown.height, grid.height),
      width: shown.width, height: shown.height)
  }
}
