package import Orientation
public import RotationPolicy
public import UprightMediaIO
package import UprightPipeline

/// What is to be done with one frame.
package struct Direction: Equatable {
  /// The format that the stream has at this frame.
  package var format: StreamFormat
  /// What stands the stored picture as the reference wants it. While the interface turns, it is laid
  /// out for where it turns to.
  package var turn: ImageOrientation
  /// The picture that is drawn on.
  package var canvas: PixelSize
  /// The turn of the interface that is under way at this frame.
  package var moment: TurnMoment?
  /// Whether the camera is sent (`captureEnabledIn`).
  package var isCaptureEnabled = true
  /// What turns the screen of the device, as it is held, onto the canvas.
  var window = ImageOrientation.up
  /// Degrees clockwise that the picture is turned by beyond `turn`, so that it stands level.
  var level = 0.0

  /// Whether both lay the picture out alike, at rest.
  package func hasLayout(of other: Direction) -> Bool {
    format == other.format && turn == other.turn && canvas == other.canvas
  }

  /// Whether the app is laid out in the other shape than the canvas.
  package var missesShape: Bool {
    canvas.width != canvas.height && format.appOrientation.isLandscape != canvas.isLandscape
  }
}

/// Says for each frame, in order, how it must be turned and which canvas it is drawn on: the one place
/// where the policy's timeline meets the frames.
package struct FrameDirector {
  /// The shape of the canvas once `auto` and the like are resolved.
  package enum Canvas: Hashable {
    case follow
    /// Wide or tall, whatever the app does.
    case fixed(isLandscape: Bool)
    /// As the first frame wants it.
    case initial
  }

  private let frames: FrameKind
  private let reference: Reference
  private var canvas: Canvas
  /// Whether in-band signals are the policy's events: no others were given.
  private let signalsAreEvents: Bool
  /// Whether a signal at any angle is followed to the degree.
  private let levels: Bool
  package private(set) var plan: OrientationPlan
  private var lastDevice: DeviceOrientation?
  private var moments = MomentTracker()

  /// - Throws: `badData` where the policy cannot start (UIKit would raise).
  package init(
    policy: PolicyDocument, guidance: StreamGuidance, frames: FrameKind, reference: Reference?,
    canvas: Canvas, signalsAreEvents: Bool, gravity: GravityClassifier.Configuration,
    levels: Bool = false
  ) throws(MediaError) {
    self.levels = levels
    self.frames = frames
    self.canvas = canvas
    self.signalsAreEvents = signalsAreEvents && frames == .metadata
    if let reference {
      self.reference = reference
    } else if case .sensor = frames {
      self.reference = .interface
    } else {
      self.reference = .gravity
    }
    do throws(PolicyError) {
      plan = try OrientationPlan(policy, guidance: guidance, gravity: gravity)
    } catch {
      throw MediaError(error, code: .badData)
    }
  }

  /// Feeds one event from outside.
  package mutating func push(_ event: RotationEvent) throws(MediaError) {
    do throws(PolicyError) {
      try plan.push(event)
    } catch {
      throw MediaError(error, code: .badData)
    }
  }

  /// What to do with the frame at `seconds`; events up to it must have been pushed.
  package mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?
  ) throws(MediaError) -> Direction {
    let stored = frames == .metadata ? signal?.orientation ?? .up : .up
    if signalsAreEvents {
      let device = DeviceOrientation(frameOf: size, lying: stored)
      if device != lastDevice {
        lastDevice = device
        try push(RotationEvent(at: max(0, seconds), .device(device)))
      }
    }
    plan.advance(to: seconds + OrientationTimeline.grain)
    let point = plan.timeline.point(at: seconds)
    let app = point.appOrientation
    if canvas == .initial { canvas = .fixed(isLandscape: app.isLandscape) }
    var format = plan.guidance.format(for: app)
    if case .fixed(let isLandscape) = canvas {
      let shape: InterfaceOrientation = isLandscape ? .landscapeRight : .portrait
      format.encodeResolution = plan.guidance.format(for: shape).encodeResolution
    }
    var direction = Direction(
      format: format, turn: turn(stored, for: point.turn?.to ?? app, held: point.device),
      canvas: format.encodeResolution)
    direction.isCaptureEnabled = point.isCaptureEnabled
    // Upright pictures show the world, the others the app: the device is turned against either.
    direction.window = ImageOrientation(
      screenOf: reference == .interface ? app.device : point.device)
    if levels, frames == .metadata, let signal {
      direction.level = signal.turn.degreesBeyondNearest
    }
    let earlier = point.turn.map { turn(stored, for: $0.from, held: point.device) }
    moments.complete(&direction, point.turn, from: earlier ?? .up, at: seconds)
    return direction
  }

  /// What stands a picture that is stored so, with the device held so, in the app's layout.
  private func turn(
    _ stored: ImageOrientation, for app: InterfaceOrientation, held device: DeviceOrientation
  ) -> ImageOrientation {
    if case .sensor(let camera) = frames {
      return camera.turn(for: reference == .interface ? app.device : device) ?? .up
    }
    guard reference == .interface, let wanted = app.device.clockwiseDegrees,
      let held = device.clockwiseDegrees
    else { return stored }
    let further = ImageOrientation(
      flippedHorizontally: false, quarterTurns: (wanted - held) / 90)
    return stored.then(further)
  }

  /// The answers so far, which are forgotten: a live session has no end.
  package mutating func takeEntries() -> [RotationDecision] { plan.takeEntries() }

  /// Forgets what no frame at or after `seconds` asks for.
  package mutating func forget(before seconds: Double) { plan.forget(before: seconds) }

  /// Answers what is still open at the end of the clip.
  package mutating func finish() { plan.finish() }
}

extension DeviceOrientation {
  /// How the device was held that recorded frames coded in `size` which need `orientation` to stand
  /// upright (spec 3). A square counts as landscape; of a mirrored signal the turn counts.
  package init(frameOf size: PixelSize, lying orientation: ImageOrientation) {
    let landscape: [DeviceOrientation] = [
      .landscapeLeft, .portrait, .landscapeRight, .portraitUpsideDown,
    ]
    let portrait: [DeviceOrientation] = [
      .portrait, .landscapeRight, .portraitUpsideDown, .landscapeLeft,
    ]
    self = (size.isLandscape ? landscape : portrait)[orientation.quarterTurns]
  }
}

extension MediaError {
  /// A policy's complaint in the words of the media path.
  public init(_ error: PolicyError, code: Code) {
    self.init(code, error.message, at: error.path, remedy: error.remedy)
  }
}
