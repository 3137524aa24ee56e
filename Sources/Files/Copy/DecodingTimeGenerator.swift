internal import UprightOrientation
internal import UprightMediaIO

/// Gives copied frames the decoding times that their container doesn't store.
///
/// Matroska stores only presentation times. libavformat derives decoding times, but not for the first frames,
/// before it has seen as many frames as the decoder reorders. A muxer without them would use the presentation
/// time instead and delay the frames that are shown earlier.
final class DecodingTimeGenerator {
  private final class Box {
    var packet: Packet?
    let pts: Int64
    init(_ packet: consuming Packet, pts: Int64) {
      self.packet = consume packet
      self.pts = pts
    }
  }

  /// Packets without a decoding time, in decoding order.
  private var waiting: [Box] = []
  /// The usual step from frame to frame in ticks; `nil` if the frame rate is unknown.
  private let step: Int64?

  /// No decoder reorders more frames.
  private static let depth = 32

  init(timeBase: Rational, frameRate: Rational?) {
    step = frameRate.map { rate in
      let slowest = MediaTime(1000, .one)
      let period = rate.numerator > 0 ? min(MediaTime(1, rate.inverted), slowest) : slowest
      return period.roundedDown(to: timeBase).ticks
    }
  }

  /// Processes the next packet in decoding order and passes on the packets that have a decoding time.
  func process(
    _ packet: consuming Packet, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    if let dts = packet.dts {
      if !waiting.isEmpty {
        let step = min(max(1, self.step ?? packet.duration), 1_000_000_000)
        let count = Int64(waiting.count)
        try release((0..<count).map { dts - (count - $0) * step }, emit)
      }
      return try emit(packet)
    }
    guard let pts = packet.pts else { return try emit(packet) }
    waiting.append(Box(packet, pts: pts))
    if waiting.count > Self.depth { try finish(emit) }
  }

  /// Passes on the remaining packets, with their sorted presentation times as decoding times.
  func finish(_ emit: (consuming Packet) throws(UprightError) -> Void) throws(UprightError) {
    try release(waiting.map(\.pts).sorted(), emit)
  }

  private func release(
    _ times: [Int64], _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let late = zip(times, waiting).map { $0 - $1.pts }.max() ?? 0
    for (time, box) in zip(times, waiting) {
      guard var packet = box.packet.take() else { continue }
      packet.dts = time - max(0, late)
      try emit(packet)
    }
    waiting.removeAll(keepingCapacity: true)
  }
}
