internal import UprightOrientation

extension RotationDecision {
  /// The entry of `events` in a report and a trace, with the keys in their documented order.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("at", .number(at)),
      .init("event", event.payload),
      .init("decision", .string(outcome.rawValue)),
      .init("reason", reason.map { .string($0) } ?? .null),
      .init("target", target.map { .string($0.name) } ?? .null),
      .init("from", .string(from.name)),
      .init("to", .string(to.name)),
      .init("allowed", .array(allowed.map { .string($0.name) })),
    ]
    if let name { members.append(.init("name", .string(name))) }
    if turn != nil { members.append(.init("phases", .array(phases.map(\.json)))) }
    return .object(members)
  }
}
