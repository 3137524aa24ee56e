internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMediaIO

/// `upright policies`.
struct Policies: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the built-in policies, print one as JSON, or migrate an iOS 5 one.",
    discussion: """
      EXAMPLES
        upright policies
        upright policies fullscreen-player > mine.json
        upright policies migrate old.json > new.json
      """)

  @Argument(
    help: "A built-in policy's name, or migrate.",
    completion: .list(PolicyDocument.builtInNames + [migration]))
  var name: String?

  @Argument(
    help: "With migrate: the iOS 5 policy to print in its iOS 6 form.",
    completion: .file(extensions: ["json"]))
  var file: String?

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func validate() throws {
    if name == Self.migration, file == nil {
      throw ValidationError("migrate needs a policy: upright policies migrate FILE")
    }
    if let file, name != Self.migration {
      throw ValidationError("unexpected argument \(file): only migrate takes a file")
    }
  }

  func run() throws {
    if let file { return try migrate(file) }
    guard let name else {
      let width = PolicyDocument.builtInNames.map(\.count).max() ?? 0
      let lines = PolicyDocument.builtInNames.map { name in
        name + String(repeating: " ", count: width + 2 - name.count)
          + (PolicyDocument.builtInPurpose(name) ?? "") + "\n"
      }
      return try StandardOutput.write(lines.joined())
    }
    guard let json = PolicyDocument.builtInJSON(name) else {
      throw UprightError(
        .usage, "there is no built-in policy named \(name)", at: "policies",
        remedy: "use one of " + PolicyDocument.builtInNames.joined(separator: ", "))
    }
    try StandardOutput.write(json + "\n")
  }

  private static let migration = "migrate"

  private func migrate(_ file: String) throws {
    let document = try PolicyInput.policy(file)
    let migration: PolicyMigration
    do throws(PolicyError) { migration = try PolicyMigration(document) } catch {
      throw PolicyInput.located(error, in: file)
    }
    try StandardOutput.write(migration.document.json.pretty + "\n")
    for warning in migration.warnings { StandardError.printLine("warning: \(warning)") }
  }
}
