public import Orientation

/// The rotation policy: `(state, event) -> (state, decisions)`, as UIKit decides.
///
/// It has no clock: events and `advance(to:)` carry the time. The same document and the same calls
/// always give the same outputs. A value: copy it to ask "what if".
///
/// A device event costs a few integer comparisons and allocates nothing beyond what the outputs'
/// array needs; events that change the tree are O(controllers).
public struct RotationReducer: Sendable {
  /// What is known after the last event.
  public internal(set) var state: RotationState

  let idiom: PolicyDocument.Idiom
  /// Seconds from a turn's decision to its `didRotate`; 0 for a cut.
  let duration: Double
  var application: PolicyDocument.Application
  var applicationMask: InterfaceOrientationMask
  var tree: ControllerTree
  /// Who decides; found anew whenever the tree or an answer changes.
  var deciding: Deciding
  var gravity: GravityReader
  /// The latest event that asked for a turn while one was in flight.
  var pending: Pending?
  /// A show that had to turn was superseded: the next answer must first make what is on screen
  /// stand in an orientation that it supports.
  var owesShowing = false

  private var count = 0
  private var lastEventAt = 0.0
  /// The latest time that an output was given for.
  var clock = 0.0

  /// An event and its place in the count.
  struct Ask: Sendable {
    let index: Int
    let event: RotationEvent
  }

  /// An event that waits for the `didRotate` of the turn in flight.
  struct Pending: Sendable {
    let ask: Ask
    let question: Question
  }

  /// Loads `document` and shows its root. Throws where UIKit would raise
  /// `UIApplicationInvalidInterfaceOrientation`, with UIKit's message, and for what the document's
  /// reader would refuse.
  ///
  /// - Parameter classifier: the constants by which `gravity` events are read.
  public init(
    _ document: PolicyDocument, gravity classifier: GravityClassifier.Configuration = .android
  ) throws(PolicyError) {
    try document.checkValues()
    tree = try ControllerTree(document)
    idiom = document.device.idiom
    duration = document.transition.effectiveDuration
    application = document.application
    applicationMask = document.application.mask(on: idiom)
    // Before the root is shown; a status bar of an app that starts has to stand somewhere.
    let start: InterfaceOrientation =
      applicationMask.contains(.portrait) ? .portrait : applicationMask.lowest ?? .portrait
    let device = document.device.orientation
    state = RotationState(
      device: device, lastUprightDevice: device.interface == nil ? nil : device,
      appOrientation: start, layoutOrientation: start,
      rotationLock: document.device.rotationLock, active: document.application.active)
    deciding = tree.deciding(from: tree.root)
    gravity = GravityReader(classifier, initial: device)
    switch judge(.other) {
    case .invalid(let reason, _):
      throw PolicyError(
        .invalidOrientation, reason,
        at: JSONPath.key(
          tree[deciding.controller].name, of: .key("controllers", of: .document)
        ).text,
        remedy: "UIKit would raise \(RotationDecision.invalidName):"
          + " make supported, preferred and the application's mask agree")
    case .settled(let settlement):
      state.appOrientation = settlement.to
      state.layoutOrientation = settlement.to
      state.captureEnabled = capturesNow
    }
  }

  /// When the turn in flight ends; nil where none is.
  public var nextDue: Double? { state.turn?.ends }

  /// Answers `event`. Turns that are due at its time are completed first.
  ///
  /// Throws for bad input (an unknown name, a wrong kind, a controller that is in the tree already,
  /// a time that is not a number or goes backwards); then nothing has changed.
  public mutating func reduce(_ event: RotationEvent) throws(PolicyError) -> [RotationOutput] {
    var outputs: [RotationOutput] = []
    try reduce(event, into: &outputs)
    return outputs
  }

  /// As `reduce(_:)`, appending to `outputs`: a caller that empties and reuses it keeps device
  /// events free of allocation.
  public mutating func reduce(
    _ event: RotationEvent, into outputs: inout [RotationOutput]
  ) throws(PolicyError) {
    try event.check(at: event.place)
    guard event.at >= lastEventAt else {
      throw .backwards(event.at, after: lastEventAt, at: event.place)
    }
    let step = try step(for: event)
    advance(to: event.at, into: &outputs)
    lastEventAt = event.at
    clock = max(clock, event.at)
    let ask = Ask(index: count, event: event)
    count += 1
    perform(step, for: ask, into: &outputs)
  }

  /// Completes the turns whose `didRotate` is due at or before `seconds`.
  public mutating func advance(to seconds: Double) -> [RotationOutput] {
    var outputs: [RotationOutput] = []
    advance(to: seconds, into: &outputs)
    return outputs
  }

  /// As `advance(to:)`, appending to `outputs`.
  public mutating func advance(to seconds: Double, into outputs: inout [RotationOutput]) {
    while let turn = state.turn, turn.ends <= seconds { complete(turn, into: &outputs) }
  }
}

extension PolicyDocument {
  /// What the reader of JSON refuses, for a document that was made or changed in code.
  fileprivate func checkValues() throws(PolicyError) {
    guard (0...Transition.longestDuration).contains(transition.duration) else {
      throw PolicyError(
        .value, "a transition cannot last \(transition.duration) seconds",
        at: "transition.duration",
        remedy: "use seconds from 0 to \(Int(Transition.longestDuration))")
    }
    try stream?.check(at: "stream.captureSize")
  }
}

extension InterfaceOrientationMask {
  /// The lowest raw value in the mask; nil for an empty one.
  var lowest: InterfaceOrientation? {
    let bits = rawValue & Self.all.rawValue
    return bits == 0 ? nil : InterfaceOrientation(rawValue: bits.trailingZeroBitCount)
  }
}
