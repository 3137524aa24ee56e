internal import ArgumentParser
internal import UprightOrientation

/// The options of commands that take several inputs.
struct BatchArguments: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many inputs are processed in parallel. (default: by the number of cores)",
      valueName: "number"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Write a report as JSON: an object, or an array with an entry per input if there are several.",
      valueName: "file"), completion: .file())
  var report: String?

  /// - Throws: `usage` for no jobs.
  func check() throws(UprightError) {
    guard let jobs, jobs < 1 else { return }
    throw UprightError(.usage, "\(jobs) is too few", at: "--jobs", remedy: "give 1 or more")
  }

  /// Opens the file of the report; `nil` if none is written.
  func reportFile() throws(UprightError) -> ReportFile? {
    try report.map { (path) throws(UprightError) in try ReportFile(path) }
  }
}
