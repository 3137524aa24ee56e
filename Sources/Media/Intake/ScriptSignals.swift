internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// The orientation in FLV's `onMetaData`: the initial value, and later updates.
///
/// A tag applies from its timestamp on (Video File Format Specification 10.1, "FLV tags"), so it applies to
/// the first frame presented at or after that time. If that time is before the frames already read (senders
/// write 0), it applies from the next frame in the file on.
struct ScriptSignals {
  private var steps = Steps<DisplayTurn?>()
  private(set) var warnings: [String] = []
  private let video: Int
  /// The value that applies from the next frame on.
  private var pending: DisplayTurn?
  private var lastDecoded: Int64?
  /// Updates that libavformat consumed and discarded while probing, in reverse order.
  private var forgotten: [FLVOpening.Rewrite] = []
  private var frames = 0

  /// Larger than libavformat's probe.
  private static let longestOpening = 8 << 20

  /// Returns `nil` if the container is not FLV.
  init?(_ source: any PacketSource, _ video: StreamInfo) {
    self.video = video.index
    let first: FLVOrientation?
    switch source {
    case let published as FLVSource: first = published.metadata?.orientation
    case let demuxer as Demuxer where demuxer.isFLV:
      let opening =
        demuxer.bytes()?.read(at: 0, count: Self.longestOpening) ?? demuxer.opening
      let known = FLVOpening(opening)
      forgotten = known?.later.reversed() ?? []
      first = known?.first ?? FLVOrientation(demuxer.container.metadata)
    default: return nil
    }
    if let turn = first.flatMap({ turn($0) }) { steps.set(turn, from: .min) }
  }

  /// Reads a packet of any stream, in file order.
  mutating func read(_ packet: borrowing Packet) {
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
    while let next = forgotten.last, next.frames <= frames {
      forgotten.removeLast()
      if let turn = turn(next.said) { pending = turn }
    }
    frames += 1
    guard let at = packet.pts ?? packet.dts else { return }
    if let turn = pending { steps.set(turn, from: at) }
    pending = nil
    lastDecoded = packet.dts ?? at
  }

  /// Returns the rotation in `said`, or `nil` if there is none or it is invalid. In that case the previous
  /// value remains in effect.
  private mutating func turn(_ said: FLVOrientation) -> DisplayTurn? {
    if let words = said.senseless.first, warnings.isEmpty {
      warnings.append(
        "the FLV metadata's \(words) is invalid (expected 1 to 8, a multiple of 90, or a name such as right) and is ignored"
      )
    }
    return said.turn
  }

  /// Returns the value for the frame at `pts`.
  mutating func turn(at pts: Int64?) -> DisplayTurn? { steps.value(at: pts) ?? nil }
}

extension FLVOrientation {
  /// Creates a value from libavformat's metadata, which holds both members as text and all numbers as
  /// integers.
  fileprivate init(_ metadata: [String: String]) {
    self.init(
      orientation: metadata["orientation"].map { .text($0) },
      rotation: metadata["rotation"].map { .text($0) })
  }
}
