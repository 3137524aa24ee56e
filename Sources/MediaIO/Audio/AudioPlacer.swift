/// The rules by which decoded samples with times of their own become one track: what happens to a gap, an
/// overlap and a jump.
///
/// All positions, counts and limits are in samples. Positions are within `Int64.plausibleTicks`.
package struct AudioPlacer: Sendable {
  /// What happens to the samples of a frame.
  package enum Answer: Sendable, Equatable {
    /// They follow the preceding samples.
    case append
    /// They follow the preceding samples after this much silence.
    case appendAfter(silence: Int64)
    /// The track has the first samples already. The others follow the preceding samples.
    case appendWithout(first: Int64)
    /// The track continues at the position of these samples.
    case restart
    /// They aren't used.
    case ignore
  }

  /// A difference from the end of the preceding samples of at most this is jitter of the source's clock.
  package let jitter: Int64
  /// The longest gap that is filled with silence.
  package let longestGap: Int64
  /// The shortest overlap that is a clock that was set back. Shorter overlaps are dropped.
  package let clockStep: Int64
  /// How far the times of single packets may be off without consequence, as long as others are right: publishers give all
  /// packets of one buffer the same time. 0 if each time counts.
  let unevenness: Int64
  /// Whether the track's times continue after a gap that is too long to fill. Otherwise what follows it is
  /// ignored.
  package let restarts: Bool
  /// How far audio that may still arrive can be behind the video before silence replaces it: at first, and at most.
  package let leastLateness: Int64
  package let longestLateness: Int64
  /// The same now. It grows with audio that is later.
  package private(set) var lateness: Int64
  /// How long the first audio of a source is waited for. A source that announces audio may never send it.
  private let firstWait: Int64
  /// The same of this source.
  private var wait: Int64
  /// Where the video is when that wait is over; `nil` once there is audio.
  private var firstAudioBy: Int64?
  /// The latest differences from the end of the preceding samples, each with that end, for `2 * unevenness`.
  private var recent: [(end: Int64, gap: Int64)] = []
  /// Where a time followed too early on the one before.
  private var unevenAt: Int64?

  init(
    jitter: Int64, longestGap: Int64, clockStep: Int64, unevenness: Int64 = 0, restarts: Bool,
    lateness: ClosedRange<Int64> = 0...0, firstWait: Int64 = 0
  ) {
    self.jitter = jitter
    self.unevenness = unevenness
    self.longestGap = longestGap
    self.clockStep = clockStep
    self.restarts = restarts
    (leastLateness, longestLateness) = (lateness.lowerBound, lateness.upperBound)
    self.firstWait = firstWait
    (self.lateness, wait, firstAudioBy) = (leastLateness, firstWait, firstWait)
  }

  /// The rules for a file. Its times are what its author meant: 10 s without audio are filled, a longer pause
  /// stays a pause, and samples whose times go back by 10 s or more are a second recording.
  package static func file(rate: Int) -> AudioPlacer {
    let second = Int64(rate)
    // Containers that count milliseconds or whole packets are off by less than 2048 samples.
    return AudioPlacer(
      jitter: 2048, longestGap: 10 * second, clockStep: 10 * second, restarts: true)
  }

  /// The rules for a live session, whose times a `LiveClock` has mapped to one timeline that begins at 0.
  /// Audio is never more than one frame of the encoder away from its video. A position 30 s ahead is farther
  /// than any interleaving, and one packet is not enough reason to insert so much silence.
  package static func live(rate: Int, frameSize: Int) -> AudioPlacer {
    let second = Int64(rate)
    return AudioPlacer(
      jitter: Int64(frameSize), longestGap: 30 * second, clockStep: .max, unevenness: second / 4,
      restarts: false, lateness: second...10 * second, firstWait: 2 * second)
  }

  /// A source begins when the video is at `position`. How late its audio is, is not known: its first audio is waited for at
  /// least as long as that of the source before it was late, because it may be the same one that returns.
  package mutating func open(at position: Int64) {
    wait = max(firstWait, lateness)
    let (end, overflows) = position.addingReportingOverflow(wait)
    (lateness, firstAudioBy) = (leastLateness, overflows ? nil : end)
  }

  /// Waits for the first audio of this source as long as for any that is late, where nobody watches.
  package mutating func waitLonger() {
    firstAudioBy = firstAudioBy.map { $0 - wait + longestLateness }
    wait = longestLateness
  }

  /// Waits longer for audio from now on if audio arrived `late` samples behind the video. Broadcast encoders send it
  /// seconds after the picture that it belongs with.
  package mutating func adapt(to late: Int64) {
    // A quarter of the least lateness is left for what comes a little later still.
    let (needed, overflows) = late.addingReportingOverflow(leastLateness / 4)
    lateness = min(max(lateness, overflows ? 0 : needed), longestLateness)
    firstAudioBy = nil
  }

  /// Returns what happens to samples at `position` in a track that ends at `end`. Call it for one after the other.
  ///
  /// - Parameter isReplaced: Whether silence has their time already.
  package mutating func place(
    at position: Int64, after end: Int64, isReplaced: Bool = false
  ) -> Answer {
    let gap = position - end
    if gap > longestGap { return restarts ? .restart : .ignore }
    if abs(gap) <= unevenness, !isReplaced {
      guard let lasting = lasting(gap, after: end) else { return .append }
      return lasting > 0 ? .appendAfter(silence: lasting) : .appendWithout(first: -lasting)
    }
    recent = []
    if gap > jitter { return .appendAfter(silence: gap) }
    if gap < -jitter, gap > -clockStep { return .appendWithout(first: -gap) }
    return .append
  }

  /// Returns the gap or, below 0, the overlap that isn't the unevenness of single times; `nil` if there is none. It is a gap
  /// where times were even, or what the latest times have in common: of the packets with one time the first one is right.
  private mutating func lasting(_ gap: Int64, after end: Int64) -> Int64? {
    if let last = recent.last, last.gap - gap > jitter / 2 { unevenAt = end }
    recent.append((end, gap))
    recent.removeAll { end - $0.end > 2 * unevenness }
    let isUneven = unevenAt.map { end - $0 < 4 * unevenness } ?? false
    var lasting = Int64(0)
    if gap > jitter, !isUneven {
      lasting = gap
    } else if let before = recent.filter({ end - $0.end > unevenness }).map(\.gap).max(),
      let after = recent.filter({ end - $0.end <= unevenness }).map(\.gap).max()
    {
      lasting = min(before, after) > 0 ? min(before, after) : min(0, max(before, after))
    }
    guard abs(lasting) > jitter else { return nil }
    recent = []
    return lasting
  }

  /// Returns the length of the silence that follows `end` when the video is at `position`.
  ///
  /// - Parameter isExpected: Whether audio may still arrive. It may be late by `lateness`, the first of a source by
  ///   more, and gaps up to `jitter` stay: otherwise a small piece of silence would follow the last audio at each frame.
  package func silence(
    upTo position: Int64, after end: Int64, isExpected: Bool
  ) -> Int64 {
    let awaited = firstAudioBy.map { position < $0 ? wait : 0 } ?? lateness
    let missing = position - end - (isExpected ? awaited : 0)
    return missing > (isExpected ? jitter : 0) ? missing : 0
  }
}
