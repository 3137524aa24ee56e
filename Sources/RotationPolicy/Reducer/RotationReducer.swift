public import UprightOrientation

/// The rotation policy: `(state, event) -> (state, decisions)`, with UIKit's rules.
///
/// The reducer has no clock. The time is given by events and `advance(to:)`. The same document and the same
/// calls always give the same outputs. A copy can be used to try an event.
///
/// A device event costs a few integer comparisons and allocates nothing except the array of outputs. Events
/// that change the tree are O(controllers).
public struct RotationReducer: Sendable {
  /// The state after the last event.
  public internal(set) var state: RotationState

  var idiom: PolicyDocument.Idiom
  /// The time from the decision of a rotation to its `didRotate`, in seconds. 0 for a cut.
  var duration: Double
  var application: PolicyDocument.Application
  var applicationMask: InterfaceOrientationMask
  var tree: ControllerTree
  /// The deciding controller. Updated when the tree or an answer changes.
  var deciding: DecidingController
  var gravity: GravityReader
  /// The latest event that requested a rotation while another was in progress.
  var pending: PendingRequest?
  /// Whether a waiting show was superseded. The next decision must first place the shown controller in an
  /// orientation that it supports.
  var owesShowing = false

  private var count = 0
  private var lastEventAt = 0.0
  /// The time of the latest output, in seconds.
  var clock = 0.0

  /// An event and its index.
  struct IndexedEvent: Sendable {
    let index: Int
    let event: RotationEvent
  }

  /// An event that waits for the `didRotate` of the rotation in progress.
  struct PendingRequest: Sendable {
    let ask: IndexedEvent
    let question: Request
  }

  /// Loads `document` and shows its root controller.
  ///
  /// - Parameters:
  ///   - document: The rotation policy.
  ///   - classifier: The constants for `gravity` events.
  /// - Throws: `invalidOrientation`, with UIKit's message, if UIKit would raise
  ///   `UIApplicationInvalidInterfaceOrientation`. The errors of `PolicyDocument.init(json:)` if the document is
  ///   invalid.
  public init(
    _ document: PolicyDocument, gravity classifier: GravityClassifier.Configuration = .android
  ) throws(PolicyError) {
    try document.checkValues()
    tree = try ControllerTree(document)
    idiom = document.device.idiom
    duration = document.transition.effectiveDuration
    application = document.application
    applicationMask = document.application.mask(on: idiom)
    // The initial orientation, before the root is shown.
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

  /// The time at which the rotation in progress ends, in seconds, or `nil` if there is none.
  public var nextDue: Double? { state.turn?.ends }

  /// Processes `event` and returns the outputs. Rotations that end at or before its time are completed first.
  ///
  /// - Throws: An error if the event is invalid: an unknown name, a wrong kind, a controller that is already in
  ///   the tree, or a time that is not a number or goes backwards. The state is then unchanged.
  public mutating func reduce(_ event: RotationEvent) throws(PolicyError) -> [RotationOutput] {
    var outputs: [RotationOutput] = []
    try reduce(event, into: &outputs)
    return outputs
  }

  /// Like `reduce(_:)`, but appends to `outputs`. If the caller reuses the array, device events allocate
  /// nothing.
  ///
  /// - Throws: The errors of `reduce(_:)`.
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
    let ask = IndexedEvent(index: count, event: event)
    count += 1
    perform(step, for: ask, into: &outputs)
  }

  /// Completes the rotations whose `didRotate` is due at or before `seconds`, and returns the outputs.
  public mutating func advance(to seconds: Double) -> [RotationOutput] {
    var outputs: [RotationOutput] = []
    advance(to: seconds, into: &outputs)
    return outputs
  }

  /// Like `advance(to:)`, but appends to `outputs`.
  public mutating func advance(to seconds: Double, into outputs: inout [RotationOutput]) {
    while let turn = state.turn, turn.ends <= seconds { complete(turn, into: &outputs) }
  }
}

extension PolicyDocument {
  /// Checks the values that the JSON reader checks, for a document that was created or changed in code.
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
  /// The orientation with the lowest raw value in the mask, or `nil` if it is empty.
  var lowest: InterfaceOrientation? {
    let bits = rawValue & Self.all.rawValue
    return bits == 0 ? nil : InterfaceOrientation(rawValue: bits.trailingZeroBitCount)
  }
}
