/// Makes the decoding timestamps of one track strictly increasing.
///
/// Three sources produce timestamps that don't increase. A new encoder counts back from its first frame by
/// its reordering delay, which at a variable frame rate can reach before the last timestamp of the previous
/// encoder. The audio of real files goes back a little (MPEG-TS joined from pieces). A coarse time base can
/// map two times to one tick.
///
/// A decoding timestamp that doesn't increase is raised to the tick after the last one, and the presentation
/// timestamp with it if it would be exceeded. Between encoders it never is, because every frame of the old
/// encoder precedes those of the new one. A packet without timestamps follows the one before it; libavformat
/// would invent one and then reject it.
package struct DecodingTimestamps {
  private var last: Int64?
  /// The end of the last packet.
  private var end: Int64 = 0

  /// The highest end of a packet.
  private static let limit = Int64.max - (1 << 32)

  package init() {}

  /// Corrects one packet. Call it in decoding order.
  ///
  /// - Parameter mayRepeat: Whether several packets may have one timestamp.
  package mutating func fit(_ packet: inout Packet, mayRepeat: Bool = false) {
    if packet.dts == nil && packet.pts == nil { packet.pts = end }
    guard var dts = packet.dts ?? packet.pts else { return }
    if let last, mayRepeat ? dts < last : dts <= last {
      dts = last == .max || mayRepeat ? last : last + 1
    }
    packet.dts = dts
    if let pts = packet.pts, pts < dts { packet.pts = dts }
    last = dts
    let (sum, overflow) = dts.addingReportingOverflow(max(0, packet.duration))
    // Near the limit, a duration isn't believed: the packets after it need ticks too.
    end = overflow || sum > Self.limit ? dts : sum
  }
}
