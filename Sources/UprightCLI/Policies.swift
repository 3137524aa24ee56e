internal import ArgumentParser
internal import MediaIO
internal import RotationPolicy
internal import Upright

/// `upright policies`.
struct Policies: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the built-in policies, or print one as JSON.",
    discussion: """
      EXAMPLES
        upright policies
        upright policies fullscreen-player > mine.json
      """)

  @Argument(help: "A built-in policy's name.")
  var name: String?

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func run() throws {
    guard let name else {
      return try StandardOutput.write(PolicyDocument.builtInNames.map { $0 + "\n" }.joined())
    }
    guard let json = PolicyDocument.builtInJSON(name) else {
      throw MediaError(
        .usage, "no built-in policy is called \(name)", at: "policies",
        remedy: "use one of " + PolicyDocument.builtInNames.joined(separator: ", "))
    }
    try StandardOutput.write(json + "\n")
  }
}
