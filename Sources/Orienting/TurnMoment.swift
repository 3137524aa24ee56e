internal import Orientation
package import RotationPolicy

/// A frame's moment in a turn of the interface that takes its time.
package struct TurnMoment: Equatable {
  /// The turn.
  package var turn: OrientationTimeline.Turn
  /// How far it is: 0 up to, not including, 1.
  var progress: Double
  /// What the picture itself turns by on the canvas from before the turn to after it, clockwise, the
  /// shortest way: 0, 90, -90 or 180. It is the interface's angle where the picture follows the
  /// interface; a front camera's picture goes the other way; one that was upright all the time, or
  /// that changes its mirroring, does not turn at all.
  var clockwiseDegrees: Int
}

/// Knows from frame to frame in which turn the frames are, and what stood before it.
struct MomentTracker {
  private var current: (turn: OrientationTimeline.Turn, degrees: Int, window: ImageOrientation)?
  /// The last frame's layout, be it at rest or in a turn.
  private var last: (turn: ImageOrientation, window: ImageOrientation)?

  /// Fills in what the turn under way makes of a frame. To be called for each frame in order.
  ///
  /// - Parameter earlier: what the frame's turn would be in the layout before the turn: what stood
  ///   before the clip's first frame.
  mutating func complete(
    _ direction: inout Direction, _ turn: OrientationTimeline.Turn?, from earlier: ImageOrientation,
    at seconds: Double
  ) {
    defer { last = (direction.turn, direction.window) }
    guard let turn else {
      current = nil
      return
    }
    var moment = current
    if moment?.turn != turn {
      let degrees = Self.degrees(from: last?.turn ?? earlier, to: direction.turn)
      // One turn right after another: the canvas has just changed to where the first one went.
      let rested = moment == nil ? last?.window : nil
      moment = (turn, degrees, rested ?? ImageOrientation(screenOf: turn.from.device))
    }
    current = moment
    guard let moment else { return }
    // What is on the device's screen stays there until the canvas changes with it.
    direction.window = moment.window
    direction.moment = TurnMoment(
      turn: turn, progress: turn.progress(at: seconds), clockwiseDegrees: moment.degrees)
  }

  private static func degrees(from: ImageOrientation, to: ImageOrientation) -> Int {
    let change = from.inverse.then(to)
    guard !change.isMirrored else { return 0 }
    return change.clockwiseDegrees > 180 ? change.clockwiseDegrees - 360 : change.clockwiseDegrees
  }
}

extension ImageOrientation {
  /// What turns the screen of a device that is held so onto an upright canvas; a flat one counts as
  /// portrait.
  init(screenOf device: DeviceOrientation) {
    self.init(
      flippedHorizontally: false, quarterTurns: (device.clockwiseDegrees ?? 0) / 90)
  }
}
