package import UprightOrientation
package import UprightPolicy
package import UprightFrames
internal import UprightMediaIO

/// The counters of a run.
package struct FrameTally {
  /// Seconds per tick of the frames' timestamps in the output.
  let timeBase: Rational
  package var frames = 0
  /// The number of those frames that were copied without decoding.
  package var copied = 0
  package var orientSeconds = 0.0
  package var encodeSeconds = 0.0
  /// The entries of the report's `formats`.
  package private(set) var changes: [FormatChange] = []
  /// The number of format changes, including discarded entries.
  package private(set) var changeCount = 0
  /// The earliest presentation time in the output and, in `end`, the latest end, in ticks of `timeBase`.
  private var first: Int64?
  private var end: Int64 = 0
  private var lastTime: Int64?
  /// The shortest and the longest step from one frame to the next, in ticks.
  private var steps: ClosedRange<Int64>?
  private var last: (direction: FrameDirection, transform: AffineMatrix)?
  private let isLive: Bool
  private var colour: Colour?
  private var hasWarnedColour = false

  /// - Parameter isLive: Whether a change of the source's size alone is no entry: a sender adapts it to its network.
  package init(timeBase: Rational, isLive: Bool = false) {
    self.timeBase = timeBase
    self.isLive = isLive
  }

  /// The time from the first frame to the end of the last frame.
  package var duration: MediaTime { MediaTime(end - (first ?? 0), timeBase) }

  /// Adds and returns an entry for a frame whose format differs from the last frame's; `nil` if it doesn't.
  package mutating func add(
    _ direction: FrameDirection, _ placement: Placement, at time: MediaTime, frame: Int? = nil
  ) -> FormatChange? {
    // An animated turn changes the format only when it ends.
    if direction.moment != nil, last != nil { return nil }
    let matrix = placement.transform
    // If a source changes its size mid-stream, it gets another transform in the same format.
    if let last, last.direction.hasLayout(of: direction), isLive || last.transform == matrix {
      return nil
    }
    last = (direction, matrix)
    let change = FormatChange(
      from: time.seconds, format: direction.format, firstFrame: frame ?? frames,
      turn: direction.turn,
      transform: matrix)
    changes.append(change)
    changeCount += 1
    return change
  }

  /// Discards the entries: a live session has no end, so they would grow indefinitely.
  mutating func forgetChanges() { changes.removeAll() }

  /// Returns whether the frame rate is variable: two steps between frames differ by more than a tick of the
  /// input, to which its times are rounded.
  package func hasUnevenSteps(tick: Rational) -> Bool {
    guard let steps else { return false }
    return steps.upperBound - steps.lowerBound > MediaTime(1, tick).rescaled(to: timeBase).ticks
  }

  mutating func end(_ frame: borrowing VideoFrame) {
    end(pts: frame.pts, duration: frame.duration)
    guard let pts = frame.pts else { return }
    if let lastTime, pts > lastTime {
      let step = pts - lastTime
      steps = min(step, steps?.lowerBound ?? step)...max(step, steps?.upperBound ?? step)
    }
    lastTime = pts
  }

  /// Records the time of a frame. Frames may come in any order.
  package mutating func end(pts: Int64?, duration: Int64) {
    guard let pts else { return }
    first = min(first ?? pts, pts)
    end = max(end, pts + duration)
  }

  /// Returns `true` for the first frame whose colour description differs from that of the first frame.
  mutating func addColour(_ new: Colour) -> Bool {
    guard let colour else {
      colour = new
      return false
    }
    guard new != colour, !hasWarnedColour else { return false }
    hasWarnedColour = true
    return true
  }
}
