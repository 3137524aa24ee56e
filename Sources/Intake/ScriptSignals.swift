internal import Orientation
internal import OrientationSignals
internal import UprightMediaIO

/// What FLV's `onMetaData` says: what stands in front of the first picture, and what is rewritten later.
///
/// A tag's time is where its data begin to apply (Video File Format Specification 10.1, "FLV tags"), so
/// it reaches the first picture presented at or after it. Where that time lies behind the pictures
/// already read (senders write 0), it reaches from the next picture of the file on.
struct ScriptSignals {
  private var steps = Steps<DisplayTurn?>()
  private(set) var warnings: [String] = []
  private let video: Int
  /// What waits for the next picture's time.
  private var pending: DisplayTurn?
  private var lastDecoded: Int64?
  /// What libavformat read, and forgot, as it looked ahead; the last is the first to come.
  private var forgotten: [FLVOpening.Rewrite] = []
  private var pictures = 0

  /// Farther than libavformat looks ahead.
  private static let longestOpening = 8 << 20

  /// Nil where the container is not FLV.
  init?(_ demuxer: Demuxer, _ video: StreamInfo) {
    guard demuxer.isFLV else { return nil }
    self.video = video.index
    let opening = demuxer.bytes()?.read(at: 0, count: Self.longestOpening) ?? demuxer.opening
    let known = FLVOpening(opening)
    forgotten = known?.later.reversed() ?? []
    if let turn = turn(known?.first ?? FLVOrientation(demuxer.container.metadata)) {
      steps.set(turn, from: .min)
    }
  }

  /// Looks at a packet of any stream, in the file's order.
  mutating func note(_ packet: borrowing Packet) {
    if packet.isScript {
      let body = unsafe packet.withBytes { unsafe Array($0) }
      guard let said = FLVOrientation(script: body), let turn = turn(said) else { return }
      if let at = packet.pts, at >= lastDecoded ?? at {
        pending = nil
        steps.set(turn, from: at)
      } else {
        pending = turn
      }
      return
    }
    if let metadata = packet.newMetadata, let turn = turn(FLVOrientation(metadata)) {
      pending = turn
    }
    guard packet.streamIndex == video else { return }
    while let next = forgotten.last, next.pictures <= pictures {
      forgotten.removeLast()
      if let turn = turn(next.said) { pending = turn }
    }
    pictures += 1
    guard let at = packet.pts ?? packet.dts else { return }
    if let turn = pending { steps.set(turn, from: at) }
    pending = nil
    lastDecoded = packet.dts ?? at
  }

  /// The turn that is said; nil where none is, or none that makes sense: then what was said stands.
  private mutating func turn(_ said: FLVOrientation) -> DisplayTurn? {
    if let words = said.senseless.first, warnings.isEmpty {
      warnings.append(
        "the FLV metadata's \(words) makes no sense (1 to 8, a multiple of 90, or a name such as right) and is ignored"
      )
    }
    return said.turn
  }

  /// What is said of the picture at `pts`.
  mutating func turn(at pts: Int64?) -> DisplayTurn? { steps.value(at: pts) ?? nil }
}

extension FLVOrientation {
  /// The two members as libavformat kept them: all numbers are whole, and all is text.
  fileprivate init(_ metadata: [String: String]) {
    self.init(
      orientation: metadata["orientation"].map { .text($0) },
      rotation: metadata["rotation"].map { .text($0) })
  }
}
