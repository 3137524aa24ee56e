internal import UprightOrientation

extension SchemaText {
  static let report: JSONValue = .object(
    header("report", "An Upright report: what was done, and the decisions") + [
      .init(
        "anyOf",
        [
          reference("report"),
          // Several inputs in one run, in order.
          list(of: ["anyOf": [reference("report"), reference("failure")]]),
        ]),
      .init(
        "$defs",
        [
          "report": one, "failure": failure,
          "appOrientation": exactly(InterfaceOrientation.upright.map(\.name)),
        ]),
    ])

  private static let one = object(
    [
      ("input", input), ("output", output),
      ("formats", list(of: format, .init("minItems", .integer(1)))),
      ("events", list(of: entry)), ("warnings", list(of: text)), ("timing", timing),
    ],
    required: ["formats", "events"],
    // A run over media has all of these keys. `explain` has none, because it processes no media.
    .init(
      "anyOf",
      [
        ["required": ["input", "output", "warnings", "timing"]],
        [
          "properties": [
            "input": .bool(false), "output": .bool(false), "warnings": .bool(false),
            "timing": .bool(false),
          ]
        ],
      ]))

  /// An input, of several, that failed.
  private static let failure = object(
    [
      ("input", object([("path", text)], required: ["path"])),
      ("output", object([("path", text)], required: ["path"])),
      (
        "error",
        object(
          [("error", text), ("where", text), ("remedy", text), ("code", text), ("exit", count)],
          required: ["error", "where", "remedy", "code", "exit"])
      ),
    ], required: ["input", "output", "error"])

  static func orNull(_ value: JSONValue) -> JSONValue {
    ["anyOf": [value, ["type": "null"]]]
  }

  private static let resolution: JSONValue = ["type": "string", "pattern": "^[0-9]+x[0-9]+$"]
  private static let appOrientation = reference("appOrientation")

  private static let input = object(
    [
      ("path", text), ("codec", text), ("width", count), ("height", count), ("frames", count),
      ("duration", orNull(seconds)),
    ], required: ["path", "codec", "width", "height", "frames", "duration"])

  private static let output = object(
    [
      ("path", text), ("frames", count), ("duration", seconds), ("copied_frames", count),
      ("encoded_frames", count), ("dropped", list(of: text)),
      // With --split.
      ("files", list(of: text, .init("minItems", .integer(1)))),
    ], required: ["path", "frames", "duration", "copied_frames", "encoded_frames", "dropped"])

  private static let format = object(
    [
      ("from", seconds), ("first_frame", count), ("appOrientation", appOrientation),
      ("captureResolution", resolution), ("encodeResolution", resolution), ("turn", text),
      (
        "transform",
        list(
          of: ["type": "number"], .init("minItems", .integer(6)), .init("maxItems", .integer(6)))
      ),
    ], required: ["from", "appOrientation", "captureResolution", "encodeResolution"])

  private static let entry = object(
    [
      ("at", seconds), ("event", ["type": "object", "minProperties": .integer(1)]),
      ("decision", exactly(RotationDecision.Outcome.allCases.map(\.rawValue))),
      ("reason", orNull(text)), ("target", orNull(appOrientation)), ("from", appOrientation),
      ("to", appOrientation),
      ("allowed", list(of: appOrientation, .init("uniqueItems", .bool(true)))),
      ("name", ["const": .string(RotationDecision.invalidName)]),
      ("phases", list(of: phase, .init("minItems", .integer(4)), .init("maxItems", .integer(4)))),
    ], required: ["at", "event", "decision", "reason", "target", "from", "to", "allowed"],
    // Only `rotate` has `phases`, only `invalid` has `name`.
    .init(
      "oneOf",
      [
        [
          "properties": ["decision": ["const": "rotate"], "name": .bool(false)],
          "required": ["phases"],
        ],
        [
          "properties": ["decision": ["const": "invalid"], "phases": .bool(false)],
          "required": ["name"],
        ],
        [
          "properties": [
            "decision": ["enum": ["keep", "refuse"]], "name": .bool(false), "phases": .bool(false),
          ]
        ],
      ]))

  private static let phase = object(
    [("at", seconds), ("phase", exactly(RotationPhase.Kind.allCases.map(\.rawValue)))],
    required: ["at", "phase"])

  private static let timing = object(
    [
      ("wall", seconds), ("cpu", seconds),
      ("stages", ["type": "object", "additionalProperties": seconds]),
    ], required: ["wall", "cpu", "stages"])
}
