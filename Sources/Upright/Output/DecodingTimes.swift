internal import MediaIO

/// Keeps the decoding times of one track rising.
///
/// Encoders follow each other, and a new encoder counts from its own first picture back by its reordering, which for a variable frame
/// rate can lie before the last time of the old one. A time that does is brought up to the next tick;
/// it stays at or below its PTS, since every picture of the old encoder precedes those of the new.
struct DecodingTimes {
  private var last: Int64?

  /// Corrects one packet; call in decoding order.
  mutating func fit(_ packet: inout Packet) {
    guard var dts = packet.dts ?? packet.pts else { return }
    if let last, dts <= last { dts = last + 1 }
    packet.dts = dts
    if let pts = packet.pts, pts < dts { packet.pts = dts }
    last = dts
  }
}
