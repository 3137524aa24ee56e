internal import ArgumentParser
internal import UprightPolicy
internal import UprightFiles

/// `upright probe`.
struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "List every orientation signal in a file, over time.",
    discussion: """
      EXAMPLES
        upright probe take.mov
        upright probe take.mov --json
      """)

  @Argument(help: "A file, a URL, or -.", completion: .file())
  var input: String

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "Print the log messages of the FFmpeg libraries.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func run() throws {
    let probe = try Probe(input: input)
    for warning in probe.warnings { StandardError.printLine("warning: \(warning)") }
    if json {
      try StandardOutput.write(probe.json.pretty + "\n")
    } else {
      try StandardOutput.write(probe.lines.map { $0.printable + "\n" }.joined())
    }
  }
}
