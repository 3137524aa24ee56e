internal import Orientation
internal import UprightMediaIO

/// Gives copied pictures the decoding times that their container does not keep.
///
/// Matroska has presentation times alone. libavformat works the others out, but not those of the first
/// pictures, before it has seen as many as the decoder reorders; and a muxer that is told none would
/// take the presentation time for it, and push the pictures that are shown earlier behind it.
final class DecodingTimeFill {
  private final class Box {
    var packet: Packet?
    let pts: Int64
    init(_ packet: consuming Packet, pts: Int64) {
      self.packet = consume packet
      self.pts = pts
    }
  }

  /// Pictures without a decoding time, in decoding order.
  private var waiting: [Box] = []
  private let tick: Double
  private let frameRate: Rational?

  /// No decoder reorders more pictures.
  private static let depth = 32

  init(timeBase: Rational, frameRate: Rational?) {
    tick = timeBase.doubleValue
    self.frameRate = frameRate
  }

  /// Takes the next packet in decoding order and passes on what has its time.
  func take(
    _ packet: consuming Packet, emit: (consuming Packet) throws(MediaError) -> Void
  ) throws(MediaError) {
    if let dts = packet.dts {
      if !waiting.isEmpty {
        let period =
          frameRate.map { 1 / max($0.doubleValue, 1e-3) / tick } ?? Double(packet.duration)
        let step = max(1, Int64(min(period, 1e9)))
        let count = Int64(waiting.count)
        try release((0..<count).map { dts - (count - $0) * step }, emit)
      }
      return try emit(packet)
    }
    guard let pts = packet.pts else { return try emit(packet) }
    waiting.append(Box(packet, pts: pts))
    if waiting.count > Self.depth { try finish(emit) }
  }

  /// Passes on what waits for a time that never came: the presentation times in their order will do.
  func finish(_ emit: (consuming Packet) throws(MediaError) -> Void) throws(MediaError) {
    try release(waiting.map(\.pts).sorted(), emit)
  }

  private func release(
    _ times: [Int64], _ emit: (consuming Packet) throws(MediaError) -> Void
  ) throws(MediaError) {
    let late = zip(times, waiting).map { $0 - $1.pts }.max() ?? 0
    for (time, box) in zip(times, waiting) {
      guard var packet = box.packet.take() else { continue }
      packet.dts = time - max(0, late)
      try emit(packet)
    }
    waiting.removeAll(keepingCapacity: true)
  }
}
