package import UprightOrientation
public import UprightPolicy

/// How one frame is to be turned and laid out.
package struct FrameDirection: Equatable {
  /// The stream format at this frame.
  package var format: StreamFormat
  /// The orientation that turns the stored frame as the reference requires. While the interface turns, this
  /// is the layout after the turn.
  package var turn: ImageOrientation
  /// The size of the canvas.
  package var canvas: PixelSize
  /// The turn of the interface that is in progress at this frame.
  package var moment: TurnProgress?
  /// Whether the camera's frames are shown (`captureEnabledIn`).
  package var isCaptureEnabled = true
  /// The orientation that turns the screen of the device, as it is held, onto the canvas.
  package var window = ImageOrientation.up
  /// The clockwise rotation in degrees, in addition to `turn`, that makes the frame level.
  package var level = 0.0
  /// The point of the upright frame that a crop keeps in the middle; `nil` for the anchor.
  package var focus: Point?

  /// Returns whether both directions have the same layout at rest.
  package func hasLayout(of other: FrameDirection) -> Bool {
    format == other.format && turn == other.turn && canvas == other.canvas
  }

  /// Whether one of the app orientation and the canvas is landscape and the other portrait.
  package var missesShape: Bool {
    canvas.width != canvas.height && format.appOrientation.isLandscape != canvas.isLandscape
  }
}

/// Decides for each frame, in order, how it is turned and which canvas it is drawn on. This is the only place
/// where the policy's timeline is applied to frames.
package struct FrameDirector {
  private let frames: FrameKind
  private let reference: Reference
  private var canvas: DirectedCanvas
  /// The canvases that were added.
  private var added: [DirectedCanvas] = []
  /// Whether in-band signals are the policy's events, because no other events were given.
  private let signalsAreEvents: Bool
  /// Whether signals are followed to the degree.
  package var levels = false
  package private(set) var plan: OrientationPlan
  /// Whether a canvas crops frames, so that `focus` events have an effect. Others are refused.
  package var takesFocus = true
  /// Whether the canvas `frame` has odd sizes too, which no encoder of 4:2:0 takes.
  package var keepsOddSizes = false
  private var lastDevice: DeviceOrientation?
  private var moments = TurnTracker()

  /// - Throws: `badData` if the policy can't start (UIKit would raise an exception).
  package init(
    policy: PolicyDocument, canvas: DirectedCanvas, frames: FrameKind, reference: Reference?,
    signalsAreEvents: Bool, gravity: GravityClassifier.Configuration, focus: FocusRule
  ) throws(UprightError) {
    self.frames = frames
    self.canvas = canvas
    self.signalsAreEvents = signalsAreEvents && frames.isSignalled
    if let reference {
      self.reference = reference
    } else if case .sensor = frames {
      self.reference = .interface
    } else {
      self.reference = .gravity
    }
    do throws(PolicyError) {
      plan = try OrientationPlan(
        policy, guidance: canvas.guidance, gravity: gravity, focus: focus)
    } catch {
      throw UprightError(error, code: .badData)
    }
  }

  /// - Throws: `usage` for a size that can't be encoded, `badData` if the policy can't start.
  package init(
    _ options: AdapterOptions, signalsAreEvents: Bool = false
  ) throws(UprightError) {
    let guidance =
      options.size.map { StreamGuidance(encodeSize: $0) } ?? options.policy.stream ?? .standard
    do throws(PolicyError) { try guidance.check() } catch {
      throw UprightError(error, code: .usage)
    }
    try self.init(
      policy: options.policy, canvas: DirectedCanvas(options.canvas ?? .follow, guidance: guidance),
      frames: options.frames, reference: options.reference, signalsAreEvents: signalsAreEvents,
      gravity: options.gravity,
      focus: FocusRule(start: Point(options.anchor), ease: options.focusEase))
    takesFocus = options.fit == .fill
  }

  /// Adds one external event.
  ///
  /// - Throws: `badData` if the policy refuses the event, and for a focus that has no effect.
  package mutating func push(_ event: RotationEvent) throws(UprightError) {
    if case .focus = event.action, !takesFocus {
      throw UprightError(
        .badData, "no canvas crops the frame, so there is no focus",
        at: event.line.map { "line \($0)" } ?? "the event at \(event.at)",
        remedy: "use the fit fill, or remove the event")
    }
    do throws(PolicyError) {
      try plan.push(event)
    } catch {
      throw UprightError(error, code: .badData)
    }
  }

  /// Returns how to turn and lay out the frame at `seconds`, which is shown in `size` before the turn. Events up
  /// to that time must have been pushed.
  package mutating func direct(
    at seconds: Double, size: PixelSize, signal: DisplayTurn?
  ) throws(UprightError) -> FrameDirection {
    let stored = frames.isSignalled ? signal?.nearest ?? .up : .up
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
    let format = canvas.format(for: app)
    var direction = FrameDirection(
      format: format, turn: turn(stored, for: point.turn?.to ?? app, held: point.device),
      canvas: format.encodeResolution)
    direction.isCaptureEnabled = point.isCaptureEnabled
    direction.focus = point.focus?.point(at: seconds)
    // With the reference `interface`, frames show the app, otherwise the world. The screen of the device is
    // turned relative to that.
    direction.window = ImageOrientation(
      screenOf: reference == .interface ? app.device : point.device)
    if levels, frames.isSignalled, let signal {
      direction.level = signal.degreesBeyondNearest
    }
    fit(canvas, to: size, &direction)
    let earlier = point.turn.map { turn(stored, for: $0.from, held: point.device) }
    moments.complete(&direction, point.turn, from: earlier ?? .up, at: seconds)
    return direction
  }

  /// Determines how to turn and lay out the frame at `seconds` on the director's own canvas, then on those that
  /// were added, in their order. The policy decides once for all of them.
  ///
  /// - Parameter directions: Is replaced; its memory is used again, so that a frame needs none.
  package mutating func directAll(
    at seconds: Double, size: PixelSize, signal: DisplayTurn?,
    into directions: inout [FrameDirection]
  ) throws(UprightError) {
    directions.removeAll(keepingCapacity: true)
    let first = try direct(at: seconds, size: size, signal: signal)
    directions.append(first)
    for index in added.indices {
      var direction = first
      direction.format = added[index].format(for: first.format.appOrientation)
      direction.canvas = direction.format.encodeResolution
      fit(added[index], to: size, &direction)
      directions.append(direction)
    }
  }

  /// Gives a canvas that is the frame itself the size of the upright frame.
  private func fit(_ canvas: DirectedCanvas, to size: PixelSize, _ direction: inout FrameDirection)
  {
    guard canvas.canvas == .frame else { return }
    direction.canvas = direction.turn.applied(
      to: keepsOddSizes ? size : FrameShape(stored: size).streamSize)
    direction.format.encodeResolution = direction.canvas
  }

  /// Adds a canvas for `directAll`, after the others.
  package mutating func add(_ canvas: DirectedCanvas) { added.append(canvas) }

  /// Changes the sizes of a canvas, by its index among those that were added.
  package mutating func resize(canvas index: Int, to guidance: StreamGuidance) {
    added[index].guidance = guidance
  }

  /// Removes a canvas by its index among those that were added.
  package mutating func removeCanvas(at index: Int) { added.remove(at: index) }

  /// Returns the orientation that turns a stored frame into the app's layout, for a device held in that
  /// orientation.
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

  /// Removes and returns the decisions so far: a live session has no end, so they would grow indefinitely.
  package mutating func takeEntries() -> [RotationDecision] { plan.takeEntries() }

  /// Discards data that only frames before `seconds` need.
  package mutating func forget(before seconds: Double) { plan.forget(before: seconds) }

  /// Decides the events that are still pending at the end of the input.
  package mutating func finish() { plan.finish() }
}

/// A canvas and the formats that guidance gives it.
package struct DirectedCanvas: Sendable {
  package fileprivate(set) var guidance: StreamGuidance
  /// `auto` and `majority` are resolved before.
  package private(set) var canvas: FrameCanvas

  package init(_ canvas: FrameCanvas, guidance: StreamGuidance) {
    self.canvas = canvas
    self.guidance = guidance
  }

  /// Returns the format for an app orientation. The first one fixes a canvas that keeps its initial shape.
  fileprivate mutating func format(for app: InterfaceOrientation) -> StreamFormat {
    if canvas == .initial { canvas = .fixed(isLandscape: app.isLandscape) }
    var format = guidance.format(for: app)
    if case .fixed(let isLandscape) = canvas {
      let shape: InterfaceOrientation = isLandscape ? .landscapeRight : .portrait
      format.encodeResolution = guidance.format(for: shape).encodeResolution
    }
    return format
  }
}

extension Point {
  /// The focus that keeps the part of an anchor.
  package init(_ anchor: Anchor) { self.init(x: anchor.x, y: anchor.y) }
}

extension DeviceOrientation {
  /// The orientation of the device that recorded frames that are shown in `size` and need `orientation` to
  /// become upright. A square counts as landscape. For a mirrored signal only the turn counts.
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

extension UprightError {
  /// Wraps an error of the policy.
  public init(_ error: PolicyError, code: Code) {
    self.init(code, error.message, at: error.path, remedy: error.remedy, cause: error)
  }
}
