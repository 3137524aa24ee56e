internal import UprightOrientation

extension RotationReducer {
  /// A validated event. Controllers are given by index. Performing it can't fail.
  enum Step {
    case device(DeviceOrientation)
    /// `nil` if the device orientation doesn't change.
    case reading(DeviceOrientation?)
    case rotate(InterfaceOrientation)
    case focus(UprightOrientation.Point)
    case lock(Bool)
    case active(Bool)
    case change(ControllerTree.Change)
    case set(Int, ControllerAnswers)
    case setApplication(InterfaceOrientationMask)
    /// The reducer of the new policy, in its initial state.
    indirect case policy(RotationReducer)
  }

  /// Validates `event`. Changes only the gravity reader, and only if no error is thrown.
  mutating func step(for event: RotationEvent) throws(PolicyError) -> Step {
    switch event.action {
    case .device(let orientation): return .device(orientation)
    case .gravity(let x, let y, let z):
      return .reading(try gravity.read(x: x, y: y, z: z, at: event))
    case .rotate(let target):
      guard target != .unknown else {
        throw PolicyError(
          .value, "the app can't rotate to \"unknown\"", at: event.place,
          remedy: "name one of the four orientations")
      }
      return .rotate(target)
    case .focus(let x, let y):
      try RotationEvent.Action.checkFocus(x, y, at: event.place)
      return .focus(UprightOrientation.Point(x: x, y: y))
    case .lock(let flag): return .lock(flag)
    case .active(let flag): return .active(flag)
    case .set(let name, let answers):
      return .set(try tree.index(of: name, at: event.place), answers)
    case .setApplication(let delegate): return .setApplication(delegate.mask)
    case .policy(let document): return .policy(try RotationReducer(document))
    case .present, .dismiss, .push, .pop, .select: return .change(try change(for: event))
    }
  }

  private func change(for event: RotationEvent) throws(PolicyError) -> ControllerTree.Change {
    let place = event.place
    let presented = state.presentations.map(\.index)
    switch event.action {
    case .present(let name, let style):
      let controller = try tree.index(of: name, at: place)
      try tree.checkFree(controller, presented: presented, at: place)
      return .present(controller, style ?? .fullScreen)
    case .push(let name, let onto):
      let controller = try tree.index(of: name, at: place)
      let container = try tree.container(onto, .navigation, at: place)
      try tree.checkFree(controller, presented: presented, onto: container, at: place)
      return .push(controller, onto: container)
    case .pop(let name): return .pop(try tree.container(name, .navigation, at: place))
    case .select(let name, let tab):
      let controller = try tree.index(of: name, at: place)
      let container = try tree.container(tab, .tab, at: place)
      guard tree[container].children.contains(controller) else {
        throw PolicyError(
          .controller, "\(quoted(name)) is not a tab of \(quoted(tab))", at: place,
          remedy: "select one of its children")
      }
      return .select(controller, in: container)
    default: return .dismiss
    }
  }

  mutating func perform(_ step: Step, for ask: IndexedEvent, into outputs: inout [RotationOutput]) {
    switch step {
    case .device(let orientation):
      gravity.record(orientation, at: clock)
      sense(orientation, for: ask, into: &outputs)
    case .reading(let orientation?): sense(orientation, for: ask, into: &outputs)
    case .reading(nil): keep(.reading, for: ask, into: &outputs)
    case .rotate(let target): pose(.turn(target, .manual), for: ask, into: &outputs)
    case .focus(let point):
      outputs.append(.focus(at: clock, point))
      keep(.stateOnly, for: ask, into: &outputs)
    case .lock(let flag): lock(flag, for: ask, into: &outputs)
    case .active(let flag):
      let wasActive = state.active
      state.active = flag
      if flag, !wasActive {
        reevaluate(for: ask, into: &outputs)
      } else {
        keep(flag == wasActive ? .repeated : .stateOnly, for: ask, into: &outputs)
      }
    case .change(let change): perform(change, for: ask, into: &outputs)
    case .set(let index, let answers):
      tree.set(answers, of: index)
      refindDeciding()
      keep(.stateOnly, for: ask, into: &outputs)
    case .setApplication(let delegate):
      application.delegate = delegate
      applicationMask = application.mask(on: idiom)
      keep(.stateOnly, for: ask, into: &outputs)
    case .policy(let other): adopt(other, for: ask, into: &outputs)
    }
  }

  /// Sets the device orientation, whether the app rotates or not, and evaluates automatic rotation.
  private mutating func sense(
    _ orientation: DeviceOrientation, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    if orientation != state.device {
      state.device = orientation
      outputs.append(.device(at: clock, orientation))
    }
    if orientation.interface != nil, orientation != state.lastUprightDevice {
      // The device moved to another upright orientation. This ends all holds.
      state.release()
      state.lastUprightDevice = orientation
    }
    reevaluate(for: ask, into: &outputs)
  }

  /// Evaluates automatic rotation with the device orientation. Checks rule 1.
  private mutating func reevaluate(for ask: IndexedEvent, into outputs: inout [RotationOutput]) {
    guard let target = state.device.interface else {
      keep(.flat, for: ask, into: &outputs)
      return
    }
    pose(.turn(target, .automatic), for: ask, into: &outputs)
  }

  private mutating func lock(
    _ flag: Bool, for ask: IndexedEvent, into outputs: inout [RotationOutput]
  ) {
    let wasLocked = state.rotationLock
    state.rotationLock = flag
    switch (wasLocked, flag) {
    case (false, true) where idiom == .phone && state.appOrientation != .portrait:
      // A phone locks in portrait. An app that supports only landscape doesn't rotate.
      pose(.turn(.portrait, .lock), for: ask, into: &outputs)
    case (true, false): reevaluate(for: ask, into: &outputs)
    default: keep(flag == wasLocked ? .repeated : .stateOnly, for: ask, into: &outputs)
    }
  }
}
