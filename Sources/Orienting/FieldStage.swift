package import Orientation
package import UprightMediaIO

/// Interlaced pictures on their way to the turn: two moments lie in the odd and the even lines of one
/// picture, and only a move of whole lines keeps them apart.
///
/// An exact move without a quarter turn keeps the fields, where the output can say that they are
/// there; upside down the first line becomes the last, and the order changes over. Anything else, a
/// rescale as much as a quarter turn, gets a progressive picture.
package final class FieldStage {
  package typealias Next = (consuming VideoFrame, Direction, Double) throws(MediaError) -> Void

  private let codec: VideoCodec
  private let format: PixelFormat
  private var deinterlacer: Deinterlacer?
  /// What is to be done with the pictures inside, in their order.
  private var waiting: [(direction: Direction, seconds: Double)] = []
  /// Pictures that were made progressive.
  private(set) var deinterlaced = 0

  /// - Parameters:
  ///   - codec: what the pictures will be encoded as.
  ///   - format: the encoder's pictures.
  package init(codec: VideoCodec, format: PixelFormat) {
    self.codec = codec
    self.format = format
  }

  /// Takes one picture, and hands on those that are ready, each with its own direction.
  package func take(
    _ frame: consuming VideoFrame, _ direction: Direction, _ seconds: Double,
    by placement: Placement,
    next: Next
  ) throws(MediaError) {
    let isOpen = deinterlacer?.takes(frame) ?? false
    let mustChange =
      frame.isInterlaced && Deinterlacer.suits(frame)
      && !keepsFields(of: frame, direction, by: placement)
    // A progressive picture among interlaced ones goes through with them, untouched.
    guard mustChange || isOpen && !frame.isInterlaced else {
      try finish(next: next)
      return try next(frame, direction, seconds)
    }
    if !isOpen {
      try finish(next: next)
      deinterlacer = try Deinterlacer(like: frame)
    }
    if mustChange { deinterlaced += 1 }
    waiting.append((direction, seconds))
    try deinterlacer?.send(frame)
    try drain(next: next)
  }

  /// Hands on what is still inside.
  package func finish(next: Next) throws(MediaError) {
    guard let deinterlacer else { return }
    try deinterlacer.finish()
    try drain(next: next)
    self.deinterlacer = nil
  }

  private func drain(next: Next) throws(MediaError) {
    while let deinterlacer, let frame = try deinterlacer.receive() {
      guard !waiting.isEmpty else { throw MediaError(.fault, "a picture without a direction") }
      let (direction, seconds) = waiting.removeFirst()
      try next(frame, direction, seconds)
    }
  }

  /// Whether every line stays a whole line of its own field, chroma's lines too.
  private func keepsFields(
    of frame: borrowing VideoFrame, _ direction: Direction, by placement: Placement
  ) -> Bool {
    let isAtRest = direction.moment == nil && direction.level == 0
    guard codec.carriesFields, frame.format == format, isAtRest, placement.isExact,
      !placement.orientation.swapsAxes
    else { return false }
    let pair = 2 << format.chromaShift.y
    let (from, to) = (placement.sourceRect, placement.canvasRect)
    return from.y % pair == 0 && to.y % pair == 0
      && (!placement.orientation.turnsUpsideDown || from.height % pair == 0)
  }

  /// The order of the fields after an exact move.
  package static func fields(_ fields: FieldOrder?, after orientation: ImageOrientation)
    -> FieldOrder?
  {
    orientation.turnsUpsideDown ? fields?.flipped : fields
  }
}

extension ImageOrientation {
  /// Whether the first line becomes the last, among those that keep lines lines.
  fileprivate var turnsUpsideDown: Bool { self == .down || self == .downMirrored }
}
