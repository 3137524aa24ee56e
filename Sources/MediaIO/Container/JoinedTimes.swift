internal import CFFmpeg
internal import Orientation

/// Makes one timeline of the clocks of a broadcast: MPEG-TS counts from anywhere, and where pieces
/// were joined the clock is set back.
///
/// The clip's first packet is at zero. A packet more than ten seconds before the last one, which no
/// interleaving explains, begins a new clock: it and what follows, on every track, goes on where its
/// own track stood. A leap ahead is left as it is, for nothing tells it from a pause, unless it is
/// longer than any pause: libavformat takes a clock that was set back for one that ran over, and adds
/// the 26.5 hours of its 33 bits.
struct JoinedTimes {
  /// Microseconds that no two tracks of one clock are apart.
  private static let patience: Int64 = 10_000_000

  /// Microseconds that a pause may last.
  private static let longestPause: Int64 = 6 * 3600 * 1_000_000

  /// Added to every time, in microseconds; before it the one of the clock that stood before.
  private var offset: Int64
  private var formerOffset: Int64?
  private var latest: Int64?
  /// Where the timeline stood before it leapt ahead.
  private var beforeLeap: Int64?
  /// Where each track's next packet is due.
  private var due: [Int: Int64] = [:]

  /// - Parameter start: the clip's first time in microseconds.
  init(start: Int64) { offset = -start }

  /// Rewrites one packet's times, in the order of the file.
  mutating func fit(_ packet: inout Packet) {
    packet.dropImplausibleTimes()
    let tick = packet.raw.pointee.time_base
    let microsecond = AVRational(num: 1, den: 1_000_000)
    guard let ticks = packet.dts ?? packet.pts, tick.num > 0, tick.den > 0 else { return }
    let raw = rescale(ticks, from: tick, to: microsecond)
    settle(raw, track: packet.streamIndex)
    let time = raw + offset
    latest = max(latest ?? time, time)
    // A packet that lasts longer would carry the timeline away with a few of its kind.
    due[packet.streamIndex] =
      time + min(rescale(packet.duration, from: tick, to: microsecond), Self.longestPause)
    let shift = rescale(offset, from: microsecond, to: tick)
    packet.pts = packet.pts.map { $0 + shift }
    packet.dts = packet.dts.map { $0 + shift }
    packet.dropImplausibleTimes()
  }

  /// Finds the offset by which a packet at `raw` follows on.
  private mutating func settle(_ raw: Int64, track: Int) {
    guard let latest else { return }
    let time = raw + offset
    if let formerOffset, abs(time - latest) > Self.patience,
      abs(raw + formerOffset - latest) <= Self.patience
    {
      // The other track is still, or again, on the former clock.
      (self.formerOffset, offset) = (offset, formerOffset)
    } else if time < latest - Self.patience || time > latest + Self.longestPause {
      if let beforeLeap, abs(time - beforeLeap) <= Self.patience {
        // It was the leap that was wrong.
        self.latest = time
      } else {
        formerOffset = offset
        offset = (due[track] ?? latest) - raw
      }
      beforeLeap = nil
    } else if time > latest + Self.patience {
      beforeLeap = latest
    }
  }
}
