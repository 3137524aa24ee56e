internal import UprightOrientation

/// The CVO values of RTP packets, looked up by timestamp after decoding.
struct CVOTimeline {
  private var said: [(pts: Int64, cvo: CVO?)] = []
  private var standing: CVO?

  /// Far more frames than any decoder holds back.
  private static let capacity = 256

  /// Records a packet's value, in decoding order.
  mutating func add(_ cvo: CVO?, pts: Int64?) {
    guard let pts else { return }
    said.append((pts, cvo))
    if said.count > Self.capacity { said.removeFirst() }
  }

  /// Returns the rotation of the frame presented at `pts`. For an unknown time, returns the value of the last
  /// known frame. Repeated calls return the same value.
  mutating func turn(at pts: Int64?) -> DisplayTurn? {
    if let pts, let own = said.last(where: { $0.pts == pts }) { standing = own.cvo }
    return standing?.turn
  }
}
