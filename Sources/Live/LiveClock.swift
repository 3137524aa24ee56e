internal import UprightOrientation
internal import UprightMediaIO

/// Maps a publisher's timestamps to the session's monotonic media time.
///
/// Media time starts with the first frame, at 0 unless it goes on with another session's, and always increases. It follows the publisher's timestamps as
/// long as they advance at the speed of real time, and the arrival times once they certainly don't. It ignores jumps,
/// wraps and timestamps that don't change, and mends steps back of the size of a frame.
/// While no input arrives, it follows the wall clock. The audio and video of one input share the mapping:
/// when one track jumps first, the other follows it.
///
/// All times are ticks of 1/90000 s, which represents milliseconds, the MPEG and RTP video clock and the
/// usual frame rates exactly.
struct LiveClock {
  /// Ticks per second.
  static let rate: Int64 = 90_000
  /// Seconds per tick.
  static let timeBase = Rational(1, 90_000)

  enum Track { case video, audio }

  /// The last packet of a track: its raw timestamp, its media time and its arrival time.
  private struct LastPacket {
    var raw: Int64
    var time: Int64
    var wall: Int64
  }

  /// The offset from the publisher's timestamps to media time; `nil` before the first frame and after a loss.
  private var offset: Int64?
  /// The offset before the last jump. The other track may still use it.
  private var formerOffset: Int64?
  private var lastPackets: [Track: LastPacket] = [:]
  /// The last input frame that was shown, and its arrival time.
  private var lastShown: (time: Int64, wall: Int64)?
  /// The offset from the wall clock to media time, used when no other mapping is available: the largest
  /// offset of the first connection, never farther than `maxWallDrift` from that of the last frame. A
  /// publisher that reconnects sends a burst first. If bursts counted, each reconnection would move media time
  /// ahead permanently.
  private var wallOffset: Int64?
  /// How far the last frames that were shown are ahead of the wall clock, the newest last.
  private var leads: [Int64] = []
  private var hasLost = false
  /// Until when the times of frames may leap, because the session has left out video that had arrived; `nil` otherwise.
  private var leapsUntil: Int64?
  /// The time since when frames have been late; `nil` while they are not.
  private var lateSince: Int64?
  private var steps: [Int64] = []
  private var pace = PublisherPace()
  /// The distance between two frames that the publisher declares; `nil` if it declares none.
  private var declaredStep: Int64?
  /// For how long the publisher's stream may have been read before its first frame was given.
  private var lookAhead: Int64 = 0
  private let assumedStep: Int64
  /// The media time of the first frame.
  let start: Int64

  /// The media time of the last frame, either from the input or a repeated one; `nil` before the first.
  private(set) var latest: Int64?

  /// The longest usual distance between two frames.
  static let longestStep = 10 * rate
  /// How far repeated frames stay behind the wall clock. The next frame of a publisher that only paused may arrive
  /// with as much more delay than its fastest one, and is not late.
  private static let repeatLag = rate / 4
  /// A timestamp step of at most this size is accepted without comparing it with the wall clock.
  private static let smallStep = rate
  /// The largest difference between a longer step and the time that it took.
  private static let tolerance = 2 * rate
  /// How many frames a demuxer and a parser hold back until the next ones arrive, or the stream ends.
  private static let heldBack: Int64 = 2
  /// How long frames may be late before the cause is taken to be the publisher's clock, not the network.
  private static let lateTimeout = rate / 2
  /// The largest distance between media time and the wall clock plus `wallOffset`.
  private static let maxWallDrift = rate
  /// The largest distance between the two tracks of one input.
  static let maxTrackDistance = 10 * rate
  /// Wrap intervals: FLV counts milliseconds in 32 bits, MPEG counts 90 kHz in 33 bits and RTP in 32.
  private static let wraps = [Int64(90) << 32, Int64(1) << 33, Int64(1) << 32]

  /// - Parameters:
  ///   - frameRate: The frame rate, in frames per second, that is assumed until the actual distance is known.
  ///   - start: The media time of the first frame.
  init(frameRate: Double = 30, start: Int64 = 0) {
    self.start = start
    let slowest = Double(Self.rate) / Double(Self.longestStep)
    let rate = frameRate.isFinite ? min(max(frameRate, slowest), 240) : 30
    assumedStep = Int64(clamping: Double(Self.rate) / rate)
  }

  /// The usual distance between two frames.
  var step: Int64 {
    guard steps.count >= 3 else { return assumedStep }
    return steps.sorted()[steps.count / 2]
  }

  /// Whether times are those of arrival, because the publisher's clock isn't real time.
  var isByArrival: Bool { pace.isUnreal }

  /// Whether the times of this publisher have a place in media time.
  var isPlaced: Bool { offset != nil }

  /// A publisher begins.
  ///
  /// - Parameters:
  ///   - frameRate: The frame rate that it declares, in frames per second: 1 to 240.
  ///   - lookAhead: For how long its stream was read to find the tracks. The frames of that time come at once.
  mutating func open(frameRate: Double?, lookAhead: Int64 = 0) {
    declaredStep = frameRate.map { Int64(clamping: Double(Self.rate) / $0) }
    self.lookAhead = min(max(0, lookAhead), Self.longestStep)
  }

  /// Returns the media time of a decoded frame, in presentation order, or `nil` if the frame is too late.
  ///
  /// - Parameters:
  ///   - raw: The publisher's timestamp; `nil` if there is none.
  ///   - wall: The arrival time.
  mutating func frameTime(_ raw: Int64?, wall: Int64) -> Int64? {
    let raw = raw.flatMap { Int64.plausibleTicks.contains($0) ? $0 : nil }
    guard let latest else {
      offset = raw.map { start - $0 }
      return show(start, raw: raw, wall: wall)
    }
    guard let raw else { return show(timeOfArrival(wall), raw: nil, wall: wall) }
    guard offset != nil else {
      let time = timeOfArrival(wall)
      offset = time - raw
      return show(time, raw: raw, wall: wall)
    }
    if let declaredStep, !isByArrival { pace.add(raw, wall: wall, declared: declaredStep) }
    if isByArrival {
      let time = max(latest + step / 4, wall + (wallOffset ?? 0))
      (offset, formerOffset) = (time - raw, nil)
      return show(time, raw: raw, wall: wall)
    }
    let isRepeated = lastPackets[.video]?.raw == raw
    let time = mapped(raw, .video, duration: step, wall: wall)
    if time > latest { return show(time, raw: raw, wall: wall) }
    // Timestamps that don't change carry no information; use the arrival time.
    if isRepeated { return show(timeOfArrival(wall), raw: raw, wall: wall) }
    // A step back of a frame's time from the frame before it, which was shown, is noise, however close the two arrive.
    // What the network delayed follows repeated frames, and what is sent again follows frames that are late.
    if lastPackets[.video]?.time == latest, latest - time <= 2 * step {
      return show(latest + step / 2, raw: raw, wall: wall)
    }
    note(.video, raw: raw, time: time, wall: wall)
    let since = lateSince ?? wall
    lateSince = since
    guard wall - since > Self.lateTimeout else { return nil }
    // The lag does not shrink: the publisher's clock had stopped and has resumed from where it was.
    let now = timeOfArrival(wall)
    shift(by: now - time)
    return show(now, raw: raw, wall: wall)
  }

  /// Returns the media time of an audio packet, or `nil` if there is no frame yet that it belongs with.
  mutating func audioTime(_ raw: Int64, duration: Int64, wall: Int64) -> Int64? {
    guard Int64.plausibleTicks.contains(raw), let offset, let latest else { return nil }
    let time: Int64
    if lastPackets[.audio] == nil {
      time = raw + offset
      guard abs(time - latest) <= Self.maxTrackDistance else { return nil }
    } else {
      time = mapped(raw, .audio, duration: max(0, min(duration, Self.rate)), wall: wall)
    }
    note(.audio, raw: raw, time: time, wall: wall)
    return time
  }

  /// Returns the next time at which the last frame must be repeated because no frame arrived, or `nil` if
  /// none is due by `wall`.
  mutating func repeatTime(wall: Int64) -> Int64? {
    guard let latest, let wallOffset else { return nil }
    let next = latest + step
    guard next <= wall + wallOffset - Self.repeatLag else { return nil }
    self.latest = next
    return next
  }

  /// The session leaves out video that has arrived. Its times leap, but not those of the audio.
  mutating func skip(wall: Int64) { leapsUntil = wall + Self.tolerance }

  /// Marks the input as lost. The next input is placed by its arrival time, regardless of its timestamps.
  mutating func lose() {
    hasLost = true
    leapsUntil = nil
    offset = nil
    formerOffset = nil
    lastPackets = [:]
    leads = []
    lateSince = nil
    pace = PublisherPace()
  }

  private mutating func show(_ time: Int64, raw: Int64?, wall: Int64) -> Int64 {
    if let latest, let last = lastPackets[.video], time > latest, last.time == latest {
      steps.append(min(max(time - latest, Self.rate / 240), Self.longestStep))
      if steps.count > 15 { steps.removeFirst() }
    }
    lateSince = nil
    latest = time
    lastShown = (time, wall)
    if let raw { note(.video, raw: raw, time: time, wall: wall) }
    if isByArrival { return time }
    let present = time - wall
    leads.append(present)
    if leads.count > Self.heldBack + 2 { leads.removeFirst() }
    let best = hasLost ? wallOffset ?? present : max(wallOffset ?? present, present)
    wallOffset = min(max(best, present - Self.maxWallDrift), present + Self.maxWallDrift)
    return time
  }

  private mutating func note(_ track: Track, raw: Int64, time: Int64, wall: Int64) {
    lastPackets[track] = LastPacket(raw: raw, time: time, wall: wall)
  }

  /// Returns the media time for something that arrived at `wall`, based only on the arrival time.
  private func timeOfArrival(_ wall: Int64) -> Int64 {
    guard let latest, let lastShown, let wallOffset else { return start }
    // Frames arrive in small bursts; less than a second is not a pause.
    let next = latest + min(step, Self.rate)
    return wall - lastShown.wall < Self.rate ? next : max(next, wall + wallOffset)
  }

  private mutating func shift(by ticks: Int64) {
    offset = offset.map { $0 + ticks }
    formerOffset = formerOffset.map { $0 + ticks }
    for track in lastPackets.keys { lastPackets[track]?.time += ticks }
  }

  /// How much earlier a frame may come than the one before it, as far as their times say.
  private var heldBack: Int64 {
    guard steps.count < 3 else { return max(Self.tolerance, Self.heldBack * step) }
    return max(Self.tolerance + lookAhead, Self.heldBack * (steps.max() ?? 0))
  }

  /// Returns the media time of `raw`, using the mapping with which it continues its track's last packet.
  private mutating func mapped(
    _ raw: Int64, _ track: Track, duration: Int64, wall: Int64
  ) -> Int64 {
    guard let offset, let last = lastPackets[track] else { return raw + (self.offset ?? 0) }
    let waited = wall - last.wall
    func follows(_ time: Int64) -> Bool {
      let step = time - last.time
      if abs(step) <= Self.smallStep || abs(step - waited) <= Self.tolerance { return true }
      // Where a frame is complete only when the next one begins, as in RTP and MPEG-TS, the last frames before a pause
      // arrive after it, with the first one. A frame that was held back is followed by what is newer.
      return step > 0 && leads.contains { time - wall <= $0 + heldBack }
    }
    if follows(raw + offset) { return raw + offset }
    if let leapsUntil, track == .video {
      self.leapsUntil = nil
      if wall < leapsUntil, (0...Self.longestStep).contains(raw + offset - last.time) {
        return raw + offset
      }
    }
    if let formerOffset, follows(raw + formerOffset) {
      (self.offset, self.formerOffset) = (formerOffset, offset)
      return raw + formerOffset
    }
    formerOffset = offset
    let wrapped = Self.wraps.lazy.map { raw + offset + $0 }.first(where: follows)
    let time = wrapped ?? last.time + (waited > Self.smallStep ? waited : duration)
    self.offset = time - raw
    return time
  }
}
