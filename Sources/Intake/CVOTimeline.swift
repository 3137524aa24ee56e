internal import Orientation

/// What RTP said of pictures that are being decoded, found again by their timestamps.
struct CVOTimeline {
  private var said: [(pts: Int64, cvo: CVO?)] = []
  private var standing: CVO?

  /// Far more pictures than any decoder holds back.
  private static let capacity = 256

  /// Notes a packet, in decoding order.
  mutating func note(_ cvo: CVO?, pts: Int64?) {
    guard let pts else { return }
    said.append((pts, cvo))
    if said.count > Self.capacity { said.removeFirst() }
  }

  /// What was said of the picture presented at `pts`; of one that is not known, what stood last. Asked
  /// again it answers the same.
  mutating func turn(at pts: Int64?) -> DisplayTurn? {
    if let pts, let own = said.last(where: { $0.pts == pts }) { standing = own.cvo }
    return standing?.turn
  }
}
