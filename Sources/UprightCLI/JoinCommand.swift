internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMedia

/// `upright join`.
struct JoinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join",
    abstract: "Put the parts of a plan together.",
    discussion: """
      Checks the SHA-256 of every part before anything is written; decodes and encodes nothing. The exit status \
      is 66 if a part is missing, and 65 if one is damaged or of another plan.

      EXAMPLES
        upright join plan.json --parts parts
        upright join plan.json --parts parts -o tall.mp4 --report report.json
      """)

  @OptionGroup var planArguments: PlanArguments

  @Option(help: "The folder of the parts.", completion: .directory)
  var parts: String

  @Option(
    name: .shortAndLong, help: "The file or the playlist. (default: as it was planned)",
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp("Write a report as JSON.", valueName: "file"), completion: .file())
  var report: String?

  @OptionGroup var common: OutputArguments

  func run() throws {
    for (value, what) in [(parts, "--parts"), (output ?? "-", "-o"), (report ?? "-", "--report")]
    where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    let session = try planArguments.session(output: output, overwrites: common.overwrites)
    if let report {
      try SideFile.check(
        report, "--report",
        against: [
          ("the plan", planArguments.plan == "-" ? nil : planArguments.plan),
          ("the input", session.input), ("the output", session.output),
        ])
    }
    Interruption.shared.watch(
      first: { session.cancel() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let file = try report.map { path throws(UprightError) in try ReportFile(path) }
    switch try session.join(folder: parts) {
    case .joined(let result):
      try file?.write(result.json)
      if !common.quiet { Summary.lines(result).forEach(StandardError.printLine) }
    case .whole(let result, let path, let frames):
      try file?.write(result)
      if !common.quiet { StandardError.printLine("\(path): \(frames.of("frame"))") }
    }
  }
}
