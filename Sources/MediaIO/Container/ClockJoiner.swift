internal import CUprightFFmpeg
internal import UprightOrientation

/// Joins the clocks of a broadcast to one timeline. MPEG-TS timestamps start anywhere, and are reset where
/// pieces were joined.
///
/// The first packet is at zero. A packet more than a second before the end of its track starts a new clock: the track
/// goes on where it ended, and the others, which may still be on the clock before, follow with the same offset.
/// A jump forward is kept, because it can't be distinguished from a pause, except at a discontinuity of a
/// playlist, and where it is longer than any pause: libavformat takes a reset clock for one that wrapped, and adds the
/// 26.5 hours of its 33 bits.
struct ClockJoiner {
  private struct Track {
    /// The offset added to its timestamps, in microseconds, and the one before.
    var offset: Int64
    var former: Int64?
    /// The time of its last packet, and that at which the next one is expected. Of subtitles it may be sooner.
    var time: Int64
    var due: Int64
    /// What that was before a jump forward.
    var beforeLeap: Int64?
  }

  /// How far a time may be from what is expected on the same clock, in microseconds.
  private static let tolerance: Int64 = 1_000_000

  /// The maximum distance between two tracks of one clock, in microseconds.
  private static let interleaving: Int64 = 10_000_000

  /// How far ahead of its packets a segment may be read, in microseconds.
  private static let lookAhead: Int64 = 30_000_000

  /// The maximum length of a pause, in microseconds.
  private static let longestPause: Int64 = 6 * 3600 * 1_000_000

  private var tracks: [Int: Track] = [:]
  /// The offset of the newest clock.
  private var newest: Int64
  /// Whether a clock began after the first one.
  private(set) var isReset = false
  /// The end of the timeline.
  private var latest: Int64?
  private var discontinuities = 0
  /// The number of those at which no clock began.
  private var unused = 0
  /// Where the timeline ended when the newest one was read.
  private var seam: Int64 = 0

  /// - Parameter start: The input's first timestamp in microseconds.
  init(start: Int64) { newest = -start }

  /// Rewrites one packet's timestamps. Call it in the order of the file.
  ///
  /// - Parameter discontinuities: The number of discontinuities of the playlist so far.
  mutating func fit(_ packet: inout Packet, discontinuities: Int = 0) {
    packet.dropImplausibleTimes()
    let tick = packet.raw.pointee.time_base
    let microsecond = AVRational(num: 1, den: 1_000_000)
    guard let ticks = packet.dts ?? packet.pts, tick.num > 0, tick.den > 0 else { return }
    if discontinuities > self.discontinuities {
      unused += discontinuities - self.discontinuities
      (self.discontinuities, seam) = (discontinuities, latest ?? 0)
    }
    let raw = rescale(ticks, from: tick, to: microsecond)
    var track = settled(raw, packet.streamIndex)
    let time = raw + track.offset
    latest = max(latest ?? time, time)
    track.time = time
    // A few packets with a longer duration would move the timeline far ahead.
    track.due = time + min(rescale(packet.duration, from: tick, to: microsecond), Self.longestPause)
    tracks[packet.streamIndex] = track
    let shift = rescale(track.offset, from: microsecond, to: tick)
    packet.pts = packet.pts.map { $0 + shift }
    packet.dts = packet.dts.map { $0 + shift }
    packet.dropImplausibleTimes()
  }

  /// Returns the track with the offset with which a packet at `raw` follows on.
  private mutating func settled(_ raw: Int64, _ index: Int) -> Track {
    guard var track = tracks[index] else {
      return Track(offset: offset(ofFirst: raw), time: 0, due: 0)
    }
    func distance(_ offset: Int64) -> Int64 {
      let time = raw + offset
      return time - min(max(time, track.time), track.due)
    }
    let (own, time) = (distance(track.offset), raw + track.offset)
    if abs(own) <= Self.tolerance { return track }
    if let former = track.former, abs(distance(former)) <= Self.tolerance {
      // The time before was an error.
      if newest == track.offset { newest = former }
      (track.offset, track.former) = (former, track.offset)
    } else if newest != track.offset, abs(distance(newest)) <= Self.interleaving {
      (track.offset, track.former) = (newest, track.offset)
    } else if let leap = track.beforeLeap, own < 0, abs(time - leap) <= Self.tolerance {
      // The jump was the error.
      track.beforeLeap = nil
      latest = time
    } else if own < 0 || own > Self.longestPause || isSeam(before: time) {
      (track.offset, track.former) = (track.due - raw, track.offset)
      (newest, track.beforeLeap, unused) = (track.offset, nil, max(0, unused - 1))
      isReset = true
    } else {
      track.beforeLeap = track.due
    }
    return track
  }

  /// Returns the offset of a track that begins: that of the newest clock, or of another that is nearer.
  private func offset(ofFirst raw: Int64) -> Int64 {
    guard let latest, abs(raw + newest - latest) > Self.interleaving else { return newest }
    let offsets = tracks.values.map(\.offset)
    return offsets.min { abs(raw + $0 - latest) < abs(raw + $1 - latest) } ?? newest
  }

  /// Returns whether a jump forward of all tracks to `time` is that of a discontinuity.
  private func isSeam(before time: Int64) -> Bool {
    guard unused > 0, let latest else { return false }
    return time > latest + Self.tolerance && latest <= seam + Self.lookAhead
  }
}
