internal import UprightOrientation
package import UprightPolicy

/// The position of a frame in an animated turn of the interface.
package struct TurnProgress: Equatable {
  /// The turn of the interface.
  package var turn: OrientationTimeline.Turn
  /// The progress of the turn: 0 ..< 1.
  package var progress: Double
  /// The clockwise rotation of the frame on the canvas from before the turn to after it, the shortest way: 0,
  /// 90, -90 or 180. It is the interface's angle if the frame follows the interface, and the opposite for a
  /// front camera. It is 0 if the frame was upright throughout or changes its mirroring.
  package var clockwiseDegrees: Int
}

/// Tracks which turn the frames are in, and the layout before it.
struct TurnTracker {
  private var current: (turn: OrientationTimeline.Turn, degrees: Int, window: ImageOrientation)?
  /// The layout of the last frame, at rest or during a turn.
  private var last: (turn: ImageOrientation, window: ImageOrientation)?

  /// Sets the turn-dependent parts of a frame's direction. Must be called for each frame in order.
  ///
  /// - Parameter earlier: The orientation that the frame would have in the layout before the turn. It is used
  ///   if the turn began before the first frame.
  mutating func complete(
    _ direction: inout FrameDirection, _ turn: OrientationTimeline.Turn?,
    from earlier: ImageOrientation,
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
      // If one turn directly follows another, the canvas has just changed to where the first one led.
      let rested = moment == nil ? last?.window : nil
      moment = (turn, degrees, rested ?? ImageOrientation(screenOf: turn.from.device))
    }
    current = moment
    guard let moment else { return }
    // Window overlays keep their orientation until the canvas changes.
    direction.window = moment.window
    direction.moment = TurnProgress(
      turn: turn, progress: turn.progress(at: seconds), clockwiseDegrees: moment.degrees)
  }

  private static func degrees(from: ImageOrientation, to: ImageOrientation) -> Int {
    let change = from.inverse.then(to)
    guard !change.isMirrored else { return 0 }
    return change.clockwiseDegrees > 180 ? change.clockwiseDegrees - 360 : change.clockwiseDegrees
  }
}

extension ImageOrientation {
  /// The orientation that turns the screen of a device held that way onto an upright canvas. A flat device
  /// counts as portrait.
  package init(screenOf device: DeviceOrientation) {
    self.init(
      flippedHorizontally: false, quarterTurns: (device.clockwiseDegrees ?? 0) / 90)
  }
}
