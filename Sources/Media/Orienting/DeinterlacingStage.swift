internal import UprightOrientation
internal import UprightFrames
internal import UprightMediaIO

/// Prepares interlaced frames for turning. The odd and the even lines of such a frame show two different
/// moments, and only moving whole lines keeps them apart.
///
/// An exact move without a quarter turn keeps the fields if the output can signal them. Upside down, the
/// first line becomes the last, and the field order changes. In any other case, such as scaling or a quarter
/// turn, the frame is deinterlaced.
final class DeinterlacingStage {
  typealias Next = (consuming VideoFrame, FrameDirection, MediaTime) throws(UprightError)
    -> Void

  private let carriesFields: Bool
  private let format: PixelFormat
  private let isScaled: Bool
  private var deinterlacer: Deinterlacer?
  /// The directions and times of the frames in the deinterlacer, in order.
  private var waiting: [(direction: FrameDirection, time: MediaTime, isShown: Bool)] = []
  /// The number of frames that were deinterlaced.
  private(set) var deinterlaced = 0

  /// - Parameters:
  ///   - carriesFields: Whether the encoder can keep fields.
  ///   - format: The pixel format that the encoder takes.
  ///   - isScaled: Whether frames are scaled later, which mixes fields.
  init(carriesFields: Bool, format: PixelFormat, isScaled: Bool = false) {
    self.carriesFields = carriesFields
    self.format = format
    self.isScaled = isScaled
  }

  /// Processes one frame, and passes on the frames that are ready, each with its direction and time.
  ///
  /// - Parameter isShown: Whether the frame is passed on. Others are only looked at beside their neighbours.
  func process(
    _ frame: consuming VideoFrame, _ direction: FrameDirection, _ time: MediaTime,
    by placement: Placement, isShown: Bool = true,
    next: Next
  ) throws(UprightError) {
    let isOpen = deinterlacer?.accepts(frame) ?? false
    let mustChange =
      frame.isInterlaced && Deinterlacer.suits(frame)
      && !keepsFields(of: frame, direction, by: placement)
    // A progressive frame between interlaced ones passes through the deinterlacer unchanged.
    guard mustChange || isOpen && !frame.isInterlaced else {
      try finish(next: next)
      if isShown { try next(frame, direction, time) }
      return
    }
    if !isOpen {
      try finish(next: next)
      deinterlacer = try Deinterlacer(like: frame)
    }
    if mustChange { deinterlaced += 1 }
    waiting.append((direction, time, isShown))
    try deinterlacer?.send(frame)
    try drain(next: next)
  }

  /// Passes on the remaining frames.
  func finish(next: Next) throws(UprightError) {
    guard let deinterlacer else { return }
    try deinterlacer.finish()
    try drain(next: next)
    self.deinterlacer = nil
  }

  private func drain(next: Next) throws(UprightError) {
    while let deinterlacer, let frame = try deinterlacer.receive() {
      guard !waiting.isEmpty else { throw UprightError(.fault, "a frame without a direction") }
      let (direction, time, isShown) = waiting.removeFirst()
      if isShown { try next(frame, direction, time) }
    }
  }

  /// Whether every line, of chroma too, remains a whole line of the same field.
  private func keepsFields(
    of frame: borrowing VideoFrame, _ direction: FrameDirection, by placement: Placement
  ) -> Bool {
    let isAtRest = direction.moment == nil && direction.level == 0
    guard !isScaled, carriesFields, frame.format == format, isAtRest, placement.isExact,
      !placement.orientation.swapsAxes
    else { return false }
    let pair = 2 << format.chromaShift.y
    let (from, to) = (placement.sourceRect, placement.canvasRect)
    return from.y % pair == 0 && to.y % pair == 0
      && (!placement.orientation.turnsUpsideDown || from.height % pair == 0)
  }

  /// Returns the field order after an exact move.
  static func fields(_ fields: FieldOrder?, after orientation: ImageOrientation)
    -> FieldOrder?
  {
    orientation.turnsUpsideDown ? fields?.flipped : fields
  }
}

extension ImageOrientation {
  /// Whether the first line becomes the last, among the orientations that keep lines as lines.
  fileprivate var turnsUpsideDown: Bool { self == .down || self == .downMirrored }
}
