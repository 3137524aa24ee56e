internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMediaIO

/// `upright schema`.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "List the JSON Schemas of policies, events, reports, plans and checks, or print one.",
    discussion: """
      EXAMPLES
        upright schema
        upright schema policy > policy.schema.json
      """)

  @Argument(help: "A schema's name.", completion: .list(PublishedSchema.all.map(\.name)))
  var name: String?

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func run() throws {
    guard let name else {
      let schemas = PublishedSchema.all
      let rows = TextTable(schemas.map { [$0.name, $0.summary, $0.json["$id"].word] })
      return try StandardOutput.write(rows.text)
    }
    guard let schema = PublishedSchema.named(name) else {
      throw UprightError(
        .usage, "there is no schema named \(name)", at: "schema",
        remedy: "use one of " + PublishedSchema.all.map(\.name).joined(separator: ", "))
    }
    try StandardOutput.write(schema.json.pretty + "\n")
  }
}

extension JSONValue? {
  /// The string, or an empty one if the value isn't a string.
  fileprivate var word: String { if case .string(let text)? = self { text } else { "" } }
}
