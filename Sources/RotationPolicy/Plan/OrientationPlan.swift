public import UprightOrientation

/// The result of running events through a reducer: the entries of the report, the timeline that the media
/// path queries, and the stream formats.
///
/// For a complete list of events, use `init(_:events:guidance:gravity:)`. For a live session, push events as
/// they arrive, advance the time with the frames, and take the entries and formats that are written.
public struct OrientationPlan: Sendable {
  /// The reducer, with its state.
  public private(set) var reducer: RotationReducer
  /// The orientations over time, which the media path queries for each frame.
  public private(set) var timeline: OrientationTimeline
  /// The stream formats, starting with the initial one. If the format changes several times at the same
  /// time, only the last one is kept.
  public private(set) var formats: [FormatChange]
  /// The decisions in the order of the events. The decision of an event that waits for the rotation in
  /// progress delays the decisions after it.
  public private(set) var entries: [RotationDecision] = []
  /// The deciding controller at the start, and the values that it depends on.
  public let start: RotationDecision.Why
  /// The sizes of the formats.
  public let guidance: StreamGuidance
  /// How the focus moves.
  private let focus: FocusRule

  /// Decisions made before that of an earlier event, in the order in which they were made.
  private var early: [RotationDecision] = []
  private var nextEntry = 0
  /// The outputs of the last event. If the caller doesn't keep them, the next event uses their memory.
  private var outputs: [RotationOutput] = []
  private var lastUpright: DeviceOrientation?
  private var style: Transition.Style
  private var takenFormats = 0

  /// Creates a plan without events.
  ///
  /// - Parameters:
  ///   - document: The rotation policy.
  ///   - guidance: The stream sizes. If `nil`, those of the document, or 720x1280.
  ///   - classifier: The constants for `gravity` events.
  ///   - focus: How the focus moves.
  /// - Throws: The errors of `RotationReducer.init`.
  public init(
    _ document: PolicyDocument, guidance: StreamGuidance? = nil,
    gravity classifier: GravityClassifier.Configuration = .android, focus: FocusRule = .init()
  ) throws(PolicyError) {
    self.focus = focus
    reducer = try RotationReducer(document, gravity: classifier)
    start = reducer.why(.shown)
    self.guidance = guidance ?? document.stream ?? .standard
    let state = reducer.state
    lastUpright = state.lastUprightDevice
    style = document.transition.style
    timeline = OrientationTimeline(
      start: .init(
        at: 0, device: lastUpright ?? state.layoutOrientation.device,
        appOrientation: state.layoutOrientation, isCaptureEnabled: state.captureEnabled))
    formats = [FormatChange(from: 0, format: self.guidance.format(for: state.layoutOrientation))]
  }

  /// Creates a plan of all `events`, including rotations that end after the last event.
  ///
  /// - Throws: An error that gives the line or the time of the first invalid event.
  public init(
    _ document: PolicyDocument, events: some Sequence<RotationEvent>,
    guidance: StreamGuidance? = nil,
    gravity classifier: GravityClassifier.Configuration = .android
  ) throws(PolicyError) {
    try self.init(document, guidance: guidance, gravity: classifier)
    for event in events { try push(event) }
    finish()
  }

  /// Adds an event. Rotations that end at or before its time are completed first.
  ///
  /// - Throws: An error if the event is invalid. The plan is then unchanged and the session can continue.
  @discardableResult
  public mutating func push(_ event: RotationEvent) throws(PolicyError) -> [RotationOutput] {
    outputs.removeAll(keepingCapacity: true)
    try reducer.reduce(event, into: &outputs)
    if case .policy(let document) = event.action { style = document.transition.style }
    record(outputs)
    return outputs
  }

  /// Completes the rotations that end at or before `seconds`.
  @discardableResult
  public mutating func advance(to seconds: Double) -> [RotationOutput] {
    guard let due = reducer.nextDue, due <= seconds else { return [] }
    let outputs = reducer.advance(to: seconds)
    record(outputs)
    return outputs
  }

  /// Completes all rotations, so that all events have a decision.
  @discardableResult
  public mutating func finish() -> [RotationOutput] { advance(to: .infinity) }

  /// The warnings of the entries, each with the time of its event.
  public var warnings: [String] {
    entries.compactMap { entry in entry.warning.map { "event at \(entry.at): \($0)" } }
  }

  /// Removes and returns the entries so far, for a trace that is written during the run.
  public mutating func takeEntries() -> [RotationDecision] {
    defer { entries.removeAll() }
    return entries
  }

  /// Returns the formats that start before `seconds` and were not returned before. Events from `seconds` on
  /// can't replace them. They stay in `formats` until `forget(before:)`. The first one is the initial format.
  public mutating func takeFormats(before seconds: Double) -> [FormatChange] {
    let end = formats[takenFormats...].firstIndex { $0.from >= seconds } ?? formats.count
    guard end > takenFormats else { return [] }
    defer { takenFormats = end }
    return Array(formats[takenFormats..<end])
  }

  /// Removes the points of the timeline that no frame at or after `seconds` needs, and the formats that ended
  /// by then, even if they were not taken.
  public mutating func forget(before seconds: Double) {
    timeline.forget(before: seconds)
    guard let current = formats.lastIndex(where: { $0.from <= seconds }), current > 0 else {
      return
    }
    formats.removeFirst(current)
    takenFormats = max(0, takenFormats - current)
  }

  /// `{"events": [...], "formats": [...]}`, as printed by `upright explain --json`.
  public var json: JSONValue {
    [
      "events": .array(entries.map(\.json)),
      "formats": .array(formats.map(\.json)),
    ]
  }

  private mutating func record(_ outputs: [RotationOutput]) {
    for output in outputs {
      switch output {
      case .device(let at, let device):
        guard let upright = device.interface?.device else { continue }
        lastUpright = upright
        place(at: at) { $0.device = upright }
      case .phase(let phase): record(phase)
      case .focus(let at, let point): move(to: point, at: at)
      case .captureEnabled(let at, let isEnabled):
        place(at: at) { $0.isCaptureEnabled = isEnabled }
      case .layout(let at, let orientation):
        let device = lastUpright ?? orientation.device
        place(at: at) { point in
          point.appOrientation = orientation
          point.device = device
          point.turn = nil
        }
        change(to: guidance.format(for: orientation), at: at)
      case .decision(let decision): file(decision)
      }
    }
  }

  private mutating func move(to point: UprightOrientation.Point, at seconds: Double) {
    let move = FocusMove(
      from: timeline.last.focus?.point(at: seconds) ?? focus.start, to: point, starts: seconds,
      ends: seconds + focus.ease)
    place(at: seconds) { $0.focus = move }
  }

  /// A rotation without duration is not added: `layout` follows at the same time.
  private mutating func record(_ phase: RotationPhase) {
    let turn = phase.turn
    guard phase.kind == .willAnimate, turn.ends > turn.starts else { return }
    let style = style
    place(at: turn.starts) {
      $0.turn = OrientationTimeline.Turn(
        from: turn.from, to: turn.to, style: style, starts: turn.starts, ends: turn.ends)
    }
  }

  /// Appends a copy of the last point that is modified by `change`.
  private mutating func place(
    at seconds: Double, _ change: (inout OrientationTimeline.Point) -> Void
  ) {
    var point = timeline.last
    point.at = seconds
    change(&point)
    timeline.append(point)
  }

  private mutating func change(to format: StreamFormat, at seconds: Double) {
    let from = max(seconds, formats.last?.from ?? 0)
    // Keep only the last format of each time. But formats that were taken are already written.
    if formats.count > takenFormats, formats.last?.from == from { formats.removeLast() }
    if formats.last?.format != format { formats.append(FormatChange(from: from, format: format)) }
  }

  /// Adds a decision to `entries` in the order of the events. A decision that waits for a rotation is made
  /// after those of later events.
  private mutating func file(_ decision: RotationDecision) {
    guard decision.eventIndex == nextEntry else {
      early.append(decision)
      return
    }
    entries.append(decision)
    nextEntry += 1
    guard !early.isEmpty else { return }
    early.sort { $0.eventIndex < $1.eventIndex }
    // At most one event waits at a time, so this is nearly always all of `early`.
    let ready = early.enumerated().prefix { $1.eventIndex == nextEntry + $0 }.map(\.element)
    entries += ready
    nextEntry += ready.count
    early.removeFirst(ready.count)
  }
}
