internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles

/// `upright run`.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Do one chunk of a plan.",
    discussion: """
      Writes the part K.part and its report K.json, with its SHA-256, to a folder. A part appears under its name \
      when it is complete. It is never replaced, so that a chunk may run again, or twice at the same time. The \
      exit status is 65 if the input, Upright or its libraries have changed since the plan was made.

      EXAMPLES
        upright run plan.json --chunk 3 -o parts
        upright run plan.json --chunk 3 -o parts --input 'https://bucket.example/take.mov?signature=...'
      """)

  @OptionGroup var planArguments: PlanArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The number of the chunk, from 0.", valueName: "number"))
  var chunk: Int

  @Option(
    name: .shortAndLong, help: "The folder of the parts. It is created if it doesn't exist.",
    completion: .directory)
  var output: String

  @OptionGroup var messages: MessageArguments

  func run() throws {
    if output == "" {
      throw UprightError(.usage, "the name is empty", at: "-o", remedy: "name a folder")
    }
    let session = try planArguments.session()
    Interruption.shared.watch(
      first: { session.cancel() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let report = try session.run(chunk: chunk, folder: output)
    if messages.quiet { return }
    for warning in report.warnings { StandardError.printLine("warning: \(warning)") }
    StandardError.printLine(
      "\(output)/\(chunk).part: \(report.packets) packets, \(report.size) bytes, "
        + (report.isReused
          ? "already done" : Summary.speed(frames: report.frames, seconds: report.timing.wall)))
  }
}
