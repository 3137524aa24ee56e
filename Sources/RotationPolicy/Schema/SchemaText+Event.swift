internal import UprightOrientation

extension SchemaText {
  static let event: JSONValue = .object(
    header("events", "An Upright event: one line of an event file") + [
      .init("type", "object"),
      .init("oneOf", .array(shapes)),
      .init("$defs", ["orientation": orientation, "orientations": orientations, "at": at]),
    ])

  private static let at: JSONValue = [
    "type": "number", "minimum": .integer(0), "maximum": .integer(Int(RotationEvent.latest)),
    "description": "Time on the media timeline, in seconds.",
  ]

  /// Returns a schema for an event with the action `key` and its other keys.
  private static func shape(
    _ key: String, _ value: JSONValue, required: [(String, JSONValue)] = [],
    optional: [(String, JSONValue)] = [], _ more: JSONValue.Member...
  ) -> JSONValue {
    let object = object(
      [("at", reference("at")), (key, value)] + required + optional,
      required: ["at", key] + required.map(\.0))
    guard case .object(let members) = object else { return object }
    return .object(members + more)
  }

  private static let shapes: [JSONValue] = [
    shape("device", word(DeviceOrientation.allCases.map(\.name))),
    shape(
      "gravity",
      list(
        of: ["type": "number"], .init("minItems", .integer(3)), .init("maxItems", .integer(3)))),
    shape("rotate", reference("orientation")),
    shape(
      "focus",
      list(
        of: ["type": "number", "minimum": .integer(0), "maximum": .integer(1)],
        .init("minItems", .integer(2)), .init("maxItems", .integer(2)))),
    shape("lock", flag),
    shape("active", flag),
    shape(
      "present", name,
      optional: [("style", word(of: RotationEvent.PresentationStyle.self))]),
    shape("dismiss", ["const": .bool(true)]),
    shape("push", name, required: [("onto", name)]),
    shape("pop", name),
    shape("select", name, required: [("in", name)]),
    shape(
      "set", ["const": .string(ControllerTree.applicationName)],
      required: [("delegate", reference("orientations"))]),
    // At least one answer besides `at` and `set`.
    shape("set", controllerName, optional: answers, .init("minProperties", .integer(3))),
  ]
}
