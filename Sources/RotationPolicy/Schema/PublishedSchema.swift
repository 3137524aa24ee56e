/// A JSON Schema (draft 2020-12) of something that goes in or out, as `upright schema NAME` prints it.
///
/// What a schema refuses, the decoder refuses too, and what the decoder reads, the schema accepts.
/// The decoder refuses more: what stands between values (a cycle, a name that is not there) and what
/// UIKit would not survive.
public struct PublishedSchema: Sendable {
  /// The word for it on the command line.
  public let name: String
  /// What it describes, in a few words.
  public let summary: String
  /// The schema itself.
  public let json: JSONValue

  /// All schemas.
  public static let all: [PublishedSchema] = [
    PublishedSchema(name: "policy", summary: "a rotation policy", json: SchemaText.policy),
    PublishedSchema(
      name: "events", summary: "one event, a line of an event file", json: SchemaText.event),
    PublishedSchema(
      name: "report", summary: "--report, and what explain --json prints", json: SchemaText.report),
  ]

  /// The schema called `name`; nil where there is none.
  public static func named(_ name: String) -> PublishedSchema? { all.first { $0.name == name } }
}

/// The pieces that the schemas are made of. The words come from the tables that the decoders read.
enum SchemaText {
  /// The identifier; the number goes up with every change that refuses what was accepted before.
  static func header(_ name: String, _ title: String) -> [JSONValue.Member] {
    [
      .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
      .init("$id", .string("urn:upright:schema:\(name):1")),
      .init("title", .string(title)),
    ]
  }

  static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }

  /// One of `words`. Input is read in upper and lower case, which JSON Schema can only say as a
  /// pattern; the list stands beside it for editors that complete words.
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

  /// One of `words` exactly, as output is written.
  static func exactly(_ words: [String]) -> JSONValue {
    ["type": "string", "enum": .array(words.map { .string($0) })]
  }

  static func list(of items: JSONValue, _ more: JSONValue.Member...) -> JSONValue {
    .object([.init("type", "array"), .init("items", items)] + more)
  }

  /// An object of these keys and no others.
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

  /// Any controller's name.
  static let name: JSONValue = ["type": "string", "minLength": .integer(1)]

  /// The name of a controller in the document; `application` means the application.
  static let controllerName: JSONValue = [
    "type": "string", "minLength": .integer(1),
    "not": ["const": .string(ControllerTree.applicationName)],
  ]

  /// Answers of a controller that both a policy and a `set` event give.
  static let answers: [(String, JSONValue)] = [
    ("shouldAutorotate", ["anyOf": [flag, word(["manual"])]]),
    ("supported", reference("orientations")),
    ("preferred", reference("orientation")),
    ("ignoresRotationWhileInactive", flag),
    ("captureEnabledIn", reference("orientations")),
    ("accepts", reference("orientations")),
  ]
}
