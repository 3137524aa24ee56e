public import Orientation

/// Runs events through a reducer and keeps what came of them: the entries of the report, the
/// timeline that the media path asks, and the stream's formats.
///
/// For a whole list of events (`init(_:events:guidance:)`) and for a live session alike: push events
/// as they come, advance the time with the frames, and take out what has been written.
public struct OrientationPlan: Sendable {
  /// The reducer, with its state.
  public private(set) var reducer: RotationReducer
  /// What the media path asks for each frame.
  public private(set) var timeline: OrientationTimeline
  /// The stream's formats, the start first; the last of an instant only.
  public private(set) var formats: [FormatChange]
  /// The answered events in the order of the events: one that waits for a turn in flight holds back
  /// those after it.
  public private(set) var entries: [RotationDecision] = []
  /// Who decides at the start, and what it looks at.
  public let start: RotationDecision.Why
  /// The sizes that the formats are made with.
  public let guidance: StreamGuidance

  /// Answers that came before that of an earlier event, in the order given.
  private var early: [RotationDecision] = []
  private var nextEntry = 0
  private var lastUpright: DeviceOrientation?
  private let style: Transition.Style
  private var takenFormats = 0

  /// A plan that stands at the start. `guidance` nil: the document's, or 720x1280. `classifier` has
  /// the constants by which `gravity` events are read.
  public init(
    _ document: PolicyDocument, guidance: StreamGuidance? = nil,
    gravity classifier: GravityClassifier.Configuration = .android
  ) throws(PolicyError) {
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

  /// A plan of all of `events`, turns included that end after the last of them. An event that is bad
  /// input throws, naming its line or its time.
  public init(
    _ document: PolicyDocument, events: some Sequence<RotationEvent>,
    guidance: StreamGuidance? = nil,
    gravity classifier: GravityClassifier.Configuration = .android
  ) throws(PolicyError) {
    try self.init(document, guidance: guidance, gravity: classifier)
    for event in events { try push(event) }
    finish()
  }

  /// Answers an event; turns due at its time are completed first. Throws for bad input, and then
  /// nothing has changed: the session can go on.
  @discardableResult
  public mutating func push(_ event: RotationEvent) throws(PolicyError) -> [RotationOutput] {
    let outputs = try reducer.reduce(event)
    take(outputs)
    return outputs
  }

  /// Completes what is due at or before `seconds`.
  @discardableResult
  public mutating func advance(to seconds: Double) -> [RotationOutput] {
    guard let due = reducer.nextDue, due <= seconds else { return [] }
    let outputs = reducer.advance(to: seconds)
    take(outputs)
    return outputs
  }

  /// Completes all turns, and so answers all events.
  @discardableResult
  public mutating func finish() -> [RotationOutput] { advance(to: .infinity) }

  /// The warnings of the entries, each with its event's time.
  public var warnings: [String] {
    entries.compactMap { entry in entry.warning.map { "event at \(entry.at): \($0)" } }
  }

  /// The entries so far, which are forgotten: for a trace that is written as the run goes.
  public mutating func takeEntries() -> [RotationDecision] {
    defer { entries.removeAll() }
    return entries
  }

  /// The formats not taken before whose instant is over at `seconds`, so that none can replace them.
  /// They stay in `formats` until they are forgotten; the start is the first one taken.
  public mutating func takeFormats(before seconds: Double) -> [FormatChange] {
    let end = formats[takenFormats...].firstIndex { $0.from >= seconds } ?? formats.count
    guard end > takenFormats else { return [] }
    defer { takenFormats = end }
    return Array(formats[takenFormats..<end])
  }

  /// Forgets the points of the timeline that no frame at or after `seconds` asks for, and the formats
  /// that were over by then, taken or not.
  public mutating func forget(before seconds: Double) {
    timeline.forget(before: seconds)
    guard let current = formats.lastIndex(where: { $0.from <= seconds }), current > 0 else {
      return
    }
    formats.removeFirst(current)
    takenFormats = max(0, takenFormats - current)
  }

  /// `{"events": [...], "formats": [...]}`, as `upright explain --json` prints it: see `PlanPrinter`.
  public var json: JSONValue {
    [
      "events": .array(entries.map(\.json)),
      "formats": .array(formats.map { $0.json() }),
    ]
  }

  private mutating func take(_ outputs: [RotationOutput]) {
    for output in outputs {
      switch output {
      case .device(let at, let device):
        guard let upright = device.interface?.device else { continue }
        lastUpright = upright
        place(at: at) { $0.device = upright }
      case .phase(let phase): take(phase)
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

  /// A turn that takes no time is not shown: `layout` follows at the same instant.
  private mutating func take(_ phase: RotationPhase) {
    let turn = phase.turn
    guard phase.kind == .willAnimate, turn.ends > turn.starts else { return }
    let style = style
    place(at: turn.starts) {
      $0.turn = OrientationTimeline.Turn(
        from: turn.from, to: turn.to, style: style, starts: turn.starts, ends: turn.ends)
    }
  }

  /// Goes on from the latest point with what `change` makes of it.
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
    // The last of an instant only; but what was taken out is written already.
    if formats.count > takenFormats, formats.last?.from == from { formats.removeLast() }
    if formats.last?.format != format { formats.append(FormatChange(from: from, format: format)) }
  }

  /// Files an answer in the order of the events: one that waits for a turn comes after later ones.
  private mutating func file(_ decision: RotationDecision) {
    guard decision.eventIndex == nextEntry else {
      early.append(decision)
      return
    }
    entries.append(decision)
    nextEntry += 1
    guard !early.isEmpty else { return }
    early.sort { $0.eventIndex < $1.eventIndex }
    // At most one event waits at a time, so nearly always this is all of them.
    let ready = early.enumerated().prefix { $1.eventIndex == nextEntry + $0 }.map(\.element)
    entries += ready
    nextEntry += ready.count
    early.removeFirst(ready.count)
  }
}
