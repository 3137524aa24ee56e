internal import ArgumentParser
internal import UprightMedia
internal import UprightFiles
internal import UprightOrientation
internal import UprightPolicy

/// `upright probe`.
struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "List every orientation signal in a file, over time.",
    discussion: """
      With several inputs, or a folder (its subfolders are skipped), --json prints an array with an object for each \
      input. If one fails, the others go on; the exit status is that of the first one that failed.

      EXAMPLES
        upright probe take.mov
        upright probe take.mov --json
        upright probe holiday/
      """)

  @Argument(
    help: ArgumentHelp("Files, folders of media files, URLs, or -.", valueName: "input"),
    completion: .file())
  var inputs: [String]

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "Print the log messages of the FFmpeg libraries.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  /// The socket of a process that works for a batch (`BatchWorker`).
  @Option(help: .private)
  var batchChannel: Int32?

  func run() throws {
    if let batchChannel {
      BatchWorker(batchChannel) { [json] item, _ in
        ProbeJob(input: item.input, isJSON: json)
      }.run()
    }
    let list = try InputList(probed: inputs)
    if list.isSeveral {
      let run = BatchRun(items: list.items, jobs: Batch.standardJobs(), jsonErrors: jsonErrors)
      return try run.printTexts(asJSON: json)
    }
    guard let item = list.items.first else { throw UprightError(.usage, "no input", at: "<input>") }
    let probe = try Probe(input: item.input)
    for warning in probe.warnings { StandardError.printLine("warning: \(warning)") }
    if json {
      try StandardOutput.write(probe.json.pretty + "\n")
    } else {
      try StandardOutput.write(probe.lines.map { $0.printable + "\n" }.joined())
    }
  }
}

/// One input of several.
private struct ProbeJob: BatchedSession {
  let input: String
  let isJSON: Bool

  func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult {
    let probe = try Probe(input: input)
    var result = BatchResult(text: probe.lines.map { $0.printable + "\n" }.joined())
    result.messages = probe.warnings.map { "warning: \(input): \($0)" }
    if isJSON, case .object(let members) = probe.json {
      result.report = .object([.init("input", .string(input))] + members)
    }
    return result
  }

  // It writes nothing, and its process ends with the batch.
  func stop() {}

  func abandon() {}
}
