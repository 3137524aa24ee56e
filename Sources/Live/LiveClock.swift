internal import Orientation
internal import UprightMediaIO

/// Makes the session's media time of whatever times a publisher sends.
///
/// Media time starts at 0 with the first picture and rises for ever. As long as the publisher's times go
/// on as time itself does, media time is theirs; where they jump, wrap or stand still it goes on without
/// them, and where nothing comes it goes on with the clock on the wall. Sound and pictures of one input
/// share the mapping: whichever of the two leaps first, the other follows it.
///
/// All times are ticks of 1/90000 s: whole for milliseconds, for MPEG's and RTP's own clock, and for the
/// usual picture rates.
struct LiveClock {
  /// Ticks a second.
  static let rate: Int64 = 90_000
  /// Seconds per tick.
  static let timeBase = Rational(1, 90_000)

  enum Track: Int { case picture, sound }

  /// The last packet of a track: its place in media time, and when it came.
  private struct Mark {
    var raw: Int64
    var time: Int64
    var wall: Int64
  }

  /// What makes media time of the publisher's; nil before the first picture and after a loss.
  private var offset: Int64?
  /// The one before a leap, on which the other track may still be.
  private var former: Int64?
  private var marks: [Track: Mark] = [:]
  /// The last picture of the input that was shown, and when it came.
  private var shown: (time: Int64, wall: Int64)?
  /// What makes media time of the wall's, where nothing else does: that of the first publisher at his
  /// best, and never farther from the last picture's than `slack`. Whoever comes back sends a burst at
  /// first: were that to count, each return would put media time ahead for good.
  private var pace: Int64?
  private var hasLost = false
  /// Since when pictures have been coming too late; nil while they do not.
  private var lateSince: Int64?
  private var steps: [Int64] = []
  private let assumedStep: Int64

  /// The time of the last picture, the input's or one that stood in for it; nil before the first.
  private(set) var latest: Int64?

  /// A track whose times step by this much or less just goes on: no clock is asked.
  private static let smallStep = rate
  /// By how much a longer step may differ from the time that it took.
  private static let tolerance = 2 * rate
  /// How long pictures may be late before it is the publisher's clock that is behind, not the network.
  private static let patience = rate / 2
  /// How far media time may be from the wall's pace.
  private static let slack = rate
  /// How far apart the two tracks of one input may be.
  private static let farthest = 10 * rate
  /// FLV counts milliseconds in 32 bits; MPEG and RTP count 90 kHz in 33 and in 32.
  private static let wraps = [Int64(90) << 32, Int64(1) << 33, Int64(1) << 32]

  /// - Parameter frameRate: pictures a second until their own distances are known.
  init(frameRate: Double = 30) {
    let rate = frameRate.isFinite ? min(max(frameRate, 1), 240) : 30
    assumedStep = Int64(clamping: Double(Self.rate) / rate)
  }

  /// The usual distance of two pictures.
  var step: Int64 {
    guard steps.count >= 3 else { return assumedStep }
    return steps.sorted()[steps.count / 2]
  }

  /// The place of a picture that was decoded, in presentation order; nil where its place has gone by.
  ///
  /// - Parameters:
  ///   - raw: what the publisher says; nil where it says nothing.
  ///   - wall: when it came.
  mutating func picture(_ raw: Int64?, wall: Int64) -> Int64? {
    let raw = raw.flatMap { Int64.plausibleTicks.contains($0) ? $0 : nil }
    guard let latest else {
      offset = raw.map { -$0 }
      return show(0, raw: raw, wall: wall)
    }
    guard let raw else { return show(arrival(wall), raw: nil, wall: wall) }
    guard offset != nil else {
      let time = arrival(wall)
      offset = time - raw
      return show(time, raw: raw, wall: wall)
    }
    let isStill = marks[.picture]?.raw == raw
    let time = settle(raw, .picture, duration: step, wall: wall)
    if time > latest { return show(time, raw: raw, wall: wall) }
    // A clock that stands still says nothing; what comes counts by its arrival.
    if isStill { return show(arrival(wall), raw: raw, wall: wall) }
    marks[.picture] = Mark(raw: raw, time: time, wall: wall)
    let since = lateSince ?? wall
    lateSince = since
    guard wall - since > Self.patience else { return nil }
    // It does not catch up: it had stopped, and goes on from where it was.
    let now = arrival(wall)
    shift(by: now - time)
    return show(now, raw: raw, wall: wall)
  }

  /// The place of a piece of sound; nil while there is no picture that it could go with.
  mutating func sound(_ raw: Int64, duration: Int64, wall: Int64) -> Int64? {
    guard Int64.plausibleTicks.contains(raw), let offset, let latest else { return nil }
    let time: Int64
    if marks[.sound] == nil {
      time = raw + offset
      guard abs(time - latest) <= Self.farthest else { return nil }
    } else {
      time = settle(raw, .sound, duration: max(0, min(duration, Self.rate)), wall: wall)
    }
    marks[.sound] = Mark(raw: raw, time: time, wall: wall)
    return time
  }

  /// The next time at which the last picture must stand in for one that did not come; nil where none is
  /// due by `wall`.
  mutating func fill(wall: Int64) -> Int64? {
    guard let latest, let pace else { return nil }
    let next = latest + step
    guard next <= wall + pace else { return nil }
    self.latest = next
    return next
  }

  /// Says that the input is gone: what comes next counts from then, whatever its own times.
  mutating func lose() {
    hasLost = true
    offset = nil
    former = nil
    marks = [:]
    lateSince = nil
  }

  private mutating func show(_ time: Int64, raw: Int64?, wall: Int64) -> Int64 {
    if let latest, let mark = marks[.picture], time > latest, mark.time == latest {
      steps.append(min(max(time - latest, Self.rate / 240), Self.rate))
      if steps.count > 15 { steps.removeFirst() }
    }
    lateSince = nil
    latest = time
    shown = (time, wall)
    let present = time - wall
    let best = hasLost ? pace ?? present : max(pace ?? present, present)
    pace = min(max(best, present - Self.slack), present + Self.slack)
    if let raw { marks[.picture] = Mark(raw: raw, time: time, wall: wall) }
    return time
  }

  /// Where something that came at `wall` belongs by that alone.
  private func arrival(_ wall: Int64) -> Int64 {
    guard let latest, let shown, let pace else { return 0 }
    // Pictures come in small bursts: less than a second is no pause.
    return wall - shown.wall < Self.rate ? latest + step : max(latest + step, wall + pace)
  }

  private mutating func shift(by ticks: Int64) {
    offset = offset.map { $0 + ticks }
    former = former.map { $0 + ticks }
    for track in marks.keys { marks[track]?.time += ticks }
  }

  /// Finds the mapping by which what comes at `raw` goes on from its track's last.
  private mutating func settle(
    _ raw: Int64, _ track: Track, duration: Int64, wall: Int64
  ) -> Int64 {
    guard let offset, let mark = marks[track] else { return raw + (self.offset ?? 0) }
    let waited = wall - mark.wall
    func follows(_ time: Int64) -> Bool {
      let step = time - mark.time
      return abs(step) <= Self.smallStep || abs(step - waited) <= Self.tolerance
    }
    if follows(raw + offset) { return raw + offset }
    if let former, follows(raw + former) {
      (self.offset, self.former) = (former, offset)
      return raw + former
    }
    former = offset
    let wrapped = Self.wraps.lazy.map { raw + offset + $0 }.first(where: follows)
    let time = wrapped ?? mark.time + (waited > Self.smallStep ? waited : duration)
    self.offset = time - raw
    return time
  }
}
