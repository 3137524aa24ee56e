/// Keeps the decoding times of one track rising.
///
/// A new encoder counts from its own first picture back by its reordering, which for a variable frame
/// rate can lie before the last time of the old one. Sources whose sound goes back a little are real
/// (MPEG-TS joined from pieces), and a coarse time base can make two times one. A time that does not
/// rise is brought up to the next tick, and its PTS with it where that would be passed; between
/// encoders it never is, since every picture of the old one precedes those of the new. A packet without
/// any time follows the one before it: left to itself libavformat makes up one that it then refuses.
package struct DecodingTimes {
  private var last: Int64?
  /// Where the last packet ends.
  private var end: Int64 = 0

  package init() {}

  /// Corrects one packet; call in decoding order.
  package mutating func fit(_ packet: inout Packet) {
    if packet.dts == nil && packet.pts == nil { packet.pts = end }
    guard var dts = packet.dts ?? packet.pts else { return }
    if let last, dts <= last { dts = last == .max ? last : last + 1 }
    packet.dts = dts
    if let pts = packet.pts, pts < dts { packet.pts = dts }
    last = dts
    let (sum, overflow) = dts.addingReportingOverflow(max(0, packet.duration))
    end = overflow ? .max : sum
  }
}
