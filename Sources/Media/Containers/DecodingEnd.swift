internal import UprightOrientation
internal import UprightMediaIO

/// Computes the duration of a track's last packet. A table of decoding times (`stts`, `trun`) gives a track the
/// length of its pictures only if its last sample, which needn't be the picture shown last, ends as long after
/// the first one as the last picture ends after the first picture (ISO/IEC 14496-12, 8.6.1.2).
struct DecodingEnd {
  /// How far the first packet is decoded before it is presented.
  private var delay: MediaTime?
  /// The end of the picture that is shown last.
  private var end: MediaTime?

  /// Records a packet, in decoding order.
  mutating func add(_ packet: borrowing Packet) {
    guard let time = packet.time, let decodingTime = packet.decodingTime else { return }
    if delay == nil { delay = time - decodingTime }
    let next = time + packet.length
    end = max(end ?? next, next)
  }

  /// Gives the last packet its duration.
  func finish(_ packet: inout Packet) {
    guard let delay, let end, let decodingTime = packet.decodingTime else { return }
    let rest = (end - delay - decodingTime).plausibleTicks(of: packet.timeBase)
    packet.duration = max(packet.duration, rest)
  }
}

extension Packet {
  /// Makes the packet last until the next one of its track is decoded, at `next`, if that is known and later.
  mutating func last(until next: Int64?) {
    if let next, let dts, next > dts { duration = next - dts }
  }
}
