internal import UprightOrientation

extension RotationEvent {
  /// The event without its time, as in a report.
  public var payload: JSONValue { .object(action.members) }

  /// The event as a line of an event file.
  public var json: JSONValue { .object([.init("at", .number(at))] + action.members) }
}

extension RotationEvent.Action {
  fileprivate var members: [JSONValue.Member] {
    switch self {
    case .device(let orientation): [.init("device", .string(orientation.name))]
    case .gravity(let x, let y, let z):
      [.init("gravity", [.number(x), .number(y), .number(z)])]
    case .focus(let x, let y): [.init("focus", [.number(x), .number(y)])]
    case .rotate(let orientation): [.init("rotate", .string(orientation.name))]
    case .lock(let flag): [.init("lock", .bool(flag))]
    case .active(let flag): [.init("active", .bool(flag))]
    case .present(let name, let style):
      [.init("present", .string(name))]
        + (style.map { [.init("style", .string($0.rawValue))] } ?? [])
    case .dismiss: [.init("dismiss", .bool(true))]
    case .push(let name, let onto):
      [.init("push", .string(name)), .init("onto", .string(onto))]
    case .pop(let name): [.init("pop", .string(name))]
    case .select(let name, let tab):
      [.init("select", .string(name)), .init("in", .string(tab))]
    case .set(let name, let answers): [.init("set", .string(name))] + answers.members
    case .setApplication(let delegate):
      [.init("set", .string(ControllerTree.applicationName)), .init("delegate", delegate.json)]
    case .policy(let document): [.init("policy", document.json)]
    }
  }
}

extension ControllerAnswers {
  fileprivate var members: [JSONValue.Member] {
    let all: [(String, JSONValue?)] = [
      ("shouldAutorotate", shouldAutorotate?.json),
      ("supported", supported?.json),
      ("preferred", preferred.map { .string($0.name) }),
      ("ignoresRotationWhileInactive", ignoresRotationWhileInactive.map { .bool($0) }),
      ("captureEnabledIn", captureEnabledIn?.json),
      ("accepts", accepts?.json),
    ]
    return all.compactMap { key, value in value.map { JSONValue.Member(key, $0) } }
  }
}
