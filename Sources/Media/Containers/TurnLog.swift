internal import DequeModule
package import UprightOrientation
package import UprightPolicy
internal import Synchronization

/// The turns of a stream, which its HLS playlists list as EXT-X-DATERANGE. The thread that decides adds them before the
/// packets of their frames; the threads of the outputs read them.
package final class TurnLog: Sendable {
  /// A turn of the app.
  package struct Turn: Sendable, Equatable {
    /// The app orientation before and after.
    var from: InterfaceOrientation
    let to: InterfaceOrientation
    /// When it begins, and the first frame in the new layout, in the times of the packets. Equal for a cut.
    var starts: MediaTime
    let ends: MediaTime
    /// The kind of the event that caused it, as event files name it: `device`, `rotate`, `present`.
    let reason: String

    /// The same turn, later by `offset`.
    func moved(by offset: MediaTime) -> Turn {
      Turn(from: from, to: to, starts: starts + offset, ends: ends + offset, reason: reason)
    }
  }

  /// The date of the output's first frame, for playlists of a file; a live playlist has that of the clock.
  let date: CalendarTime
  private let turns = Mutex(Deque<Turn>())
  /// The date of time 0 of live playlists; `nil` before the first of them has a segment.
  private let liveZero = Mutex<CalendarTime?>(nil)

  /// The turns that are kept: more than outputs can be behind, with a turn at each frame.
  private static let limit = 4096

  /// - Parameter date: When the first frame was shot. The start of 1970 if nobody knows: the date of the run would make
  ///   each output another one.
  package init(date: CalendarTime? = nil) { self.date = date ?? CalendarTime(seconds: 0) }

  /// Adds a turn that has ended. Turns that end at one frame are one, and none if nothing has changed with them.
  ///
  /// - Parameters:
  ///   - turn: A turn of the policy, with times on the media timeline.
  ///   - end: The first frame in the new layout, in the times of the packets.
  package func add(_ turn: RotationTurn, of event: RotationEvent, at end: MediaTime) {
    let length = max(.zero, MediaTime(seconds: turn.ends - turn.starts))
    var added = Turn(
      from: turn.from, to: turn.to, starts: end - length, ends: end, reason: Self.kind(of: event))
    turns.withLock { turns in
      if let last = turns.last, last.ends == end {
        turns.removeLast()
        (added.from, added.starts) = (last.from, min(last.starts, added.starts))
        if added.from == added.to { return }
      }
      turns.append(added)
      if turns.count > Self.limit { turns.removeFirst() }
    }
  }

  /// The name of an event's kind, as event files have it.
  private static func kind(of event: RotationEvent) -> String {
    if case .object(let members) = event.payload, let first = members.first {
      first.key
    } else {
      ""
    }
  }

  /// Returns the date of time 0 of a live playlist. All playlists of a session have the same, whichever has its first
  /// segment earlier: a date means one frame in all of them (RFC 8216bis, 6.2.4), and a turn has one date.
  ///
  /// - Parameters:
  ///   - now: The date by the clock, for the first playlist that asks.
  ///   - earliest: The earliest date, for a playlist that continues another one.
  func liveZero(now: CalendarTime, notBefore earliest: CalendarTime?) -> CalendarTime {
    liveZero.withLock { zero in
      let shared = zero ?? max(now, earliest ?? now)
      zero = shared
      return max(shared, earliest ?? shared)
    }
  }

  /// Returns the turns that end in a stretch of a playlist, in order, in the playlist's times.
  ///
  /// - Parameter offset: How much later the playlist's times are than the packets'.
  func turns(from start: MediaTime, for duration: MediaTime, offset: MediaTime) -> [Turn] {
    turns.withLock { turns in
      let (first, end) = (start - offset, start + duration - offset)
      let listed = turns.reversed().prefix { $0.ends >= first }.reversed()
      return listed.filter { $0.ends < end }.map { $0.moved(by: offset) }
    }
  }
}

/// The turns that wait for the frame with which they end.
package struct PendingTurns {
  private var waiting: [(turn: RotationTurn, event: RotationEvent)] = []

  package init() {}

  package var isEmpty: Bool { waiting.isEmpty }

  /// Adds the turns of decisions, in order.
  package mutating func add(_ decisions: some Sequence<RotationDecision>) {
    for decision in decisions {
      if let turn = decision.turn { waiting.append((turn, decision.event)) }
    }
  }

  /// Logs the turns that have ended at the frame at `seconds` on the media timeline, whose packets have the time `time`. Nobody
  /// sees those that ended at the first frame.
  package mutating func log(upTo seconds: Double, as time: MediaTime, in log: TurnLog) {
    while let next = waiting.first, next.turn.ends <= seconds + OrientationTimeline.grain {
      waiting.removeFirst()
      guard next.turn.ends > OrientationTimeline.grain else { continue }
      log.add(next.turn, of: next.event, at: time)
    }
  }
}

/// The EXT-X-DATERANGE of a turn (RFC 8216, 4.3.2.7).
struct TurnRange {
  /// What identifies the ranges of turns among others. It is no name of a host.
  static let rangeClass = "upright.turn"

  /// The end of the turn.
  let ends: CalendarTime
  let text: String

  /// - Parameters:
  ///   - turn: With times of the playlist.
  ///   - zero: The date of time 0.
  ///   - size: The size of the frames after the turn; `nil` for a playlist of audio.
  init(_ turn: TurnLog.Turn, zero: CalendarTime, size: PixelSize?) {
    ends = zero + turn.ends.seconds
    let start = zero + turn.starts.seconds
    let length = turn.ends - turn.starts
    var text =
      "#EXT-X-DATERANGE:ID=\"\(Self.prefix)\(ends.milliseconds)\",CLASS=\"\(Self.rangeClass)\""
    text += ",START-DATE=\"\(start.millisecondText)\",DURATION=\(length.decimalSeconds)"
    text += ",X-UPRIGHT-FROM=\"\(turn.from.name)\",X-UPRIGHT-TO=\"\(turn.to.name)\""
    if let size { text += ",X-UPRIGHT-SIZE=\"\(size)\"" }
    self.text = text + ",X-UPRIGHT-REASON=\"\(turn.reason)\"\n"
  }

  /// Reads a line that an earlier run has written; `nil` for any other.
  init?(line: String) {
    let pieces = line.split(separator: "\"", omittingEmptySubsequences: false)
    guard pieces.count > 5, line.utf8.count < 1000, pieces[3] == Self.rangeClass,
      pieces[1].hasPrefix(Self.prefix), let end = Int64(pieces[1].dropFirst(Self.prefix.utf8.count))
    else { return nil }
    ends = CalendarTime(seconds: Double(end) / 1000)
    text = line + "\n"
  }

  /// What an ID begins with, before the milliseconds from 1970 to the turn's end.
  private static let prefix = "turn-"
}
