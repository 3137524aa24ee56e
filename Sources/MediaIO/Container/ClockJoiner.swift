internal import CUprightFFmpeg
internal import UprightOrientation

/// Joins the clocks of a broadcast to one timeline. MPEG-TS timestamps start anywhere, and are reset where
/// pieces were joined.
///
/// The first packet is at zero. A packet more than ten seconds before the last one, which interleaving can't
/// explain, starts a new clock: it and the following packets of every track continue where their track ended.
/// A jump forward is kept, because it can't be distinguished from a pause, unless it is longer than any
/// pause: libavformat takes a reset clock for one that wrapped, and adds the 26.5 hours of its 33 bits.
struct ClockJoiner {
  /// The maximum distance between two tracks of one clock, in microseconds.
  private static let tolerance: Int64 = 10_000_000

  /// The maximum length of a pause, in microseconds.
  private static let longestPause: Int64 = 6 * 3600 * 1_000_000

  /// The offset added to every timestamp, in microseconds; below it the offset of the previous clock.
  private var offset: Int64
  private var formerOffset: Int64?
  private var latest: Int64?
  /// The end of the timeline before it jumped forward.
  private var beforeLeap: Int64?
  /// The time at which each track's next packet is expected.
  private var due: [Int: Int64] = [:]

  /// - Parameter start: The input's first timestamp in microseconds.
  init(start: Int64) { offset = -start }

  /// Rewrites one packet's timestamps. Call it in the order of the file.
  mutating func fit(_ packet: inout Packet) {
    packet.dropImplausibleTimes()
    let tick = packet.raw.pointee.time_base
    let microsecond = AVRational(num: 1, den: 1_000_000)
    guard let ticks = packet.dts ?? packet.pts, tick.num > 0, tick.den > 0 else { return }
    let raw = rescale(ticks, from: tick, to: microsecond)
    settle(raw, track: packet.streamIndex)
    let time = raw + offset
    latest = max(latest ?? time, time)
    // A few packets with a longer duration would move the timeline far ahead.
    due[packet.streamIndex] =
      time + min(rescale(packet.duration, from: tick, to: microsecond), Self.longestPause)
    let shift = rescale(offset, from: microsecond, to: tick)
    packet.pts = packet.pts.map { $0 + shift }
    packet.dts = packet.dts.map { $0 + shift }
    packet.dropImplausibleTimes()
  }

  /// Finds the offset with which a packet at `raw` follows on.
  private mutating func settle(_ raw: Int64, track: Int) {
    guard let latest else { return }
    let time = raw + offset
    if let formerOffset, abs(time - latest) > Self.tolerance,
      abs(raw + formerOffset - latest) <= Self.tolerance
    {
      // The other track is still, or again, on the previous clock.
      (self.formerOffset, offset) = (offset, formerOffset)
    } else if time < latest - Self.tolerance || time > latest + Self.longestPause {
      if let beforeLeap, abs(time - beforeLeap) <= Self.tolerance {
        // The jump was the error.
        self.latest = time
      } else {
        formerOffset = offset
        offset = (due[track] ?? latest) - raw
      }
      beforeLeap = nil
    } else if time > latest + Self.tolerance {
      beforeLeap = latest
    }
  }
}
