package import Orientation
package import RotationPolicy
internal import UprightMediaIO
package import UprightOrienting

/// What a run counts as it goes.
package struct SessionTally {
  /// Seconds per tick of the pictures' timestamps in the output.
  let timeBase: Rational
  package var frames = 0
  /// Those of them that were not decoded.
  package var copied = 0
  package var orientSeconds = 0.0
  package var encodeSeconds = 0.0
  /// Spec 4's `formats`.
  package private(set) var changes: [JSONValue] = []
  /// How many there were, those forgotten among them.
  package private(set) var changeCount = 0
  /// First and last time in the output, in ticks of `timeBase`.
  private var first: Int64?
  private var end: Int64 = 0
  private var lastTime: Int64?
  /// The shortest and the longest step from one frame to the next, in ticks.
  private var steps: ClosedRange<Int64>?
  private var last: (direction: Direction, transform: AffineTransform)?
  private var colour: Colour?
  private var hasWarnedColour = false

  package init(timeBase: Rational) { self.timeBase = timeBase }

  /// Seconds from the first picture to the end of the last one.
  package var duration: Double { Double(end - (first ?? 0)) * timeBase.doubleValue }

  /// Adds the entry of a frame whose format differs from the last one's, and returns it.
  package mutating func note(
    _ direction: Direction, _ placement: Placement, at seconds: Double, frame: Int? = nil
  ) -> JSONValue? {
    // A turn that takes its time changes the format when it is over.
    if direction.moment != nil, last != nil { return nil }
    let matrix = placement.transform
    // A source that changes its size in mid-stream gets another transform in the same format.
    if let last, last.direction.hasLayout(of: direction), last.transform == matrix { return nil }
    last = (direction, matrix)
    let change = FormatChange(from: seconds, format: direction.format).json(
      firstFrame: frame ?? frames, turn: direction.turn.name,
      transform: [matrix.a, matrix.b, matrix.c, matrix.d, matrix.tx, matrix.ty])
    changes.append(change)
    changeCount += 1
    return change
  }

  /// Forgets the entries: a live session has no end.
  mutating func forgetChanges() { changes.removeAll() }

  /// Whether frames come at no steady rate: one step is half as long again as another.
  package var hasUnevenSteps: Bool {
    guard let steps else { return false }
    return steps.upperBound > steps.lowerBound + steps.lowerBound / 2
  }

  mutating func end(_ picture: borrowing VideoFrame) {
    end(pts: picture.pts, duration: picture.duration)
    guard let pts = picture.pts else { return }
    if let lastTime, pts > lastTime {
      let step = pts - lastTime
      steps = min(step, steps?.lowerBound ?? step)...max(step, steps?.upperBound ?? step)
    }
    lastTime = pts
  }

  /// Notes a picture's place, in whatever order they come.
  package mutating func end(pts: Int64?, duration: Int64) {
    guard let pts else { return }
    first = min(first ?? pts, pts)
    end = max(end, pts + duration)
  }

  /// Whether this is the first frame whose colour means something else than the first one's.
  mutating func noteColour(_ new: Colour) -> Bool {
    guard let colour else {
      colour = new
      return false
    }
    guard new != colour, !hasWarnedColour else { return false }
    hasWarnedColour = true
    return true
  }
}
