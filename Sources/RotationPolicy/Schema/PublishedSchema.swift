/// A JSON Schema (draft 2020-12) of an input or output, as printed by `upright schema NAME`.
///
/// The schema accepts everything that the decoder accepts. The decoder rejects more: errors across values
/// (a cycle, an unknown name), and policies for which UIKit would raise an exception.
public struct PublishedSchema: Sendable {
  /// The name on the command line.
  public let name: String
  /// A short description of the content.
  package let summary: String
  /// The schema itself.
  public let json: JSONValue

  /// All schemas.
  public static let all: [PublishedSchema] = [
    PublishedSchema(name: "policy", summary: "a rotation policy", json: SchemaText.policy),
    PublishedSchema(
      name: "events", summary: "an event: one line of an event file", json: SchemaText.event),
    PublishedSchema(
      name: "report", summary: "the output of --report and explain --json", json: SchemaText.report),
    PublishedSchema(
      name: "plan", summary: "the output of plan: a transcode in chunks", json: SchemaText.plan),
    PublishedSchema(name: "check", summary: "the output of check --json", json: SchemaText.check),
  ]

  /// Returns the schema named `name`, or `nil` if there is none.
  public static func named(_ name: String) -> PublishedSchema? { all.first { $0.name == name } }
}

/// The parts of the schemas. The words are taken from the same tables that the decoders use.
enum SchemaText {
  /// Returns the identifier and title. The number in the identifier increases with every change that rejects
  /// documents that were accepted before.
  static func header(_ name: String, _ title: String) -> [JSONValue.Member] {
    [
      .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
      .init("$id", .string("urn:upright:schema:\(name):1")),
      .init("title", .string(title)),
    ]
  }

  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

  /// Returns a schema for one of `words`, ignoring case. JSON Schema can ignore case only with a pattern. The
  /// list of words is included for editors with completion.
  static func word(_ words: [String]) -> JSONValue {
    let choices = words.map { word in
      word.map { letter -> String in
        let (lower, upper) = (letter.lowercased(), letter.uppercased())
        return lower == upper ? lower : "[\(lower)\(upper)]"
      }.joined()
    }
    return [
      "type": "string",
      "anyOf": [
        ["enum": .array(words.map { .string($0) })],
        ["pattern": .string("^(?:" + choices.joined(separator: "|") + ")$")],
      ],
    ]
  }

  static func word<Word>(of type: Word.Type) -> JSONValue
  where Word: CaseIterable & RawRepresentable, Word.RawValue == String {
    word(type.allCases.map(\.rawValue))
  }

  /// Returns a schema for one of `words`, with exact case, for output.
  static func exactly(_ words: [String]) -> JSONValue {
    ["type": "string", "enum": .array(words.map { .string($0) })]
  }

  static func list(of items: JSONValue, _ more: JSONValue.Member...) -> JSONValue {
    .object([.init("type", "array"), .init("items", items)] + more)
  }

  /// Returns a schema for an object with these keys and no others.
  static func object(
    _ properties: [(String, JSONValue)], required: [String] = [], _ more: JSONValue.Member...
  ) -> JSONValue {
    var members: [JSONValue.Member] = [.init("type", "object")]
    members.append(
      .init("properties", .object(properties.map { JSONValue.Member($0.0, $0.1) })))
    if !required.isEmpty {
      members.append(.init("required", .array(required.map { .string($0) })))
    }
    members.append(.init("additionalProperties", .bool(false)))
    return .object(members + more)
  }

  static let flag: JSONValue = ["type": "boolean"]
  static let text: JSONValue = ["type": "string"]
  static let count: JSONValue = ["type": "integer", "minimum": .integer(0)]
  static let seconds: JSONValue = ["type": "number", "minimum": .integer(0)]

  /// The name of any controller.
  static let name: JSONValue = ["type": "string", "minLength": .integer(1)]

  /// The name of a controller in the document. `application` is reserved for the application.
  static let controllerName: JSONValue = [
    "type": "string", "minLength": .integer(1),
    "not": ["const": .string(ControllerTree.applicationName)],
  ]

  /// The answers of a controller, in a policy and in a `set` event.
  static let answers: [(String, JSONValue)] = [
    ("shouldAutorotate", ["anyOf": [flag, word(["manual"])]]),
    ("supported", reference("orientations")),
    ("preferred", reference("orientation")),
    ("ignoresRotationWhileInactive", flag),
    ("captureEnabledIn", reference("orientations")),
    ("accepts", reference("orientations")),
  ]
}
