internal import UprightOrientation

extension SchemaText {
  static let policy: JSONValue = {
    let top = object(
      [
        ("semantics", word(of: PolicyDocument.Semantics.self)),
        ("device", device), ("application", application), ("root", controllerName),
        (
          "controllers",
          [
            "type": "object", "propertyNames": controllerName,
            "additionalProperties": reference("controller"),
          ]
        ),
        ("transition", transition), ("stream", stream),
      ],
      // `root` is required if there is more than one controller.
      .init(
        "anyOf",
        [["required": ["root"]], ["properties": ["controllers": ["maxProperties": .integer(1)]]]]),
      .init("$defs", definitions))
    guard case .object(let members) = top else { return top }
    return .object(header("policy", "An Upright rotation policy") + members)
  }()

  private static let device = object([
    ("idiom", word(of: PolicyDocument.Idiom.self)),
    ("orientation", word(DeviceOrientation.allCases.map(\.name))),
    ("rotationLock", flag),
  ])

  private static let application = object([
    ("infoPlist", reference("orientations")), ("delegate", reference("orientations")),
    ("active", flag),
  ])

  private static let transition = object([
    ("style", word(of: Transition.Style.self)),
    (
      "duration",
      [
        "type": "number", "minimum": .integer(0),
        "maximum": .integer(Int(Transition.longestDuration)),
      ]
    ),
  ])

  private static let stream = object([
    ("size", reference("size")), ("captureSize", reference("size")),
  ])

  private static let definitions: JSONValue = [
    "orientation": orientation, "orientations": orientations, "size": size,
    "controller": controller,
  ]

  static let orientation = word(InterfaceOrientation.upright.map(\.name))
  static let orientations = list(of: word(OrientationList.known))

  /// Two even numbers from 2 to 16384 (`StreamSize.longestSide`).
  private static let size: JSONValue = {
    let side =
      "0*(?:[2468]|[1-9][0-9]{0,2}[02468]|1[0-5][0-9]{2}[02468]|16[0-2][0-9][02468]"
      + "|163[0-7][02468]|1638[024])"
    return ["type": "string", "pattern": .string("^\(side)x\(side)$")]
  }()

  /// Only containers have children, and only tab controllers have a selected child.
  private static let controller = object(
    [
      ("kind", word(of: PolicyDocument.Controller.Kind.self)),
      ("authority", word(of: PolicyDocument.Controller.Authority.self)),
      ("children", list(of: controllerName, .init("uniqueItems", .bool(true)))),
      ("selected", controllerName),
    ] + answers,
    .init(
      "anyOf",
      [
        [
          "required": ["kind"],
          "properties": ["kind": word([PolicyDocument.Controller.Kind.tab.rawValue])],
        ],
        [
          "required": ["kind"],
          "properties": [
            "kind": word([PolicyDocument.Controller.Kind.navigation.rawValue]),
            "selected": .bool(false),
          ],
        ],
        [
          "properties": [
            "kind": word([PolicyDocument.Controller.Kind.content.rawValue]),
            "authority": word([PolicyDocument.Controller.Authority.container.rawValue]),
            "children": ["maxItems": .integer(0)], "selected": .bool(false),
          ]
        ],
      ]))
}
