internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightMediaIO
internal import UprightMedia

/// `upright plan`.
struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Divide a transcode into chunks that other processes or machines can do.",
    discussion: """
      The plan is JSON on standard output (see upright schema plan). upright run does one of its chunks, in any \
      order and on any machine with the same version of Upright and its libraries, and upright join puts the \
      parts together. The output is that of transcode with --chunks, --chunk-seconds and --threads, byte for \
      byte. A plan has one thread for each encoder, and chunks of 60 s, if the options don't say otherwise.

      EXAMPLES
        upright plan take.mov -o tall.mp4 --size 720p --crf 22 > plan.json
        upright run plan.json --chunk 0 -o parts
        upright join plan.json --parts parts
      """)

  @Argument(help: "A file or a URL that is seekable.", completion: .file())
  var input: String

  @Option(
    name: .shortAndLong, help: "The file or the playlist that join writes.", completion: .file())
  var output: String

  @OptionGroup var policyArguments: PolicyArguments

  @OptionGroup(title: "Video and encoding") var arguments: TranscodeArguments

  @Option(help: "The output's container, if it can't be derived from the name.")
  var format: String?

  @OptionGroup var common: RunArguments

  func run() throws {
    for (value, what) in [(input, "<input>"), (output, "-o")] where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    try policyArguments.check(input: input)
    let document = try policyArguments.document()
    let session = try TranscodeSession(
      input: input, output: output, inputFormat: common.inputFormat, outputFormat: format,
      options: arguments.options(
        overwrites: common.output.overwrites, policy: policyArguments.policy),
      policy: document, events: policyArguments.source(for: input, document))
    Interruption.shared.watch(
      first: { session.cancel() }, second: { _exit(Interruption.shared.status ?? 130) })
    let plan = try session.chunkPlan()
    try StandardOutput.write(plan.text())
    if common.output.quiet { return }
    for warning in plan.warnings { StandardError.printLine("warning: \(warning)") }
    StandardError.printLine("\(input): \(plan.summary)")
  }
}

extension ChunkPlan {
  fileprivate var summary: String {
    switch chunks.first {
    case nil: return "no chunks: join copies the input"
    case .whole: return "1 chunk, the whole input: \(reason)"
    case .frames, .tracks:
      let copied = chunks.count {
        if case .frames(let part) = $0 { part.reason == nil } else { false }
      }
      return "\(chunks.count) chunks" + (copied > 0 ? ", of which \(copied) copied" : "")
    }
  }
}

/// The plan that `run` and `join` work by.
struct PlanArguments: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The output of upright plan; - for standard input.", valueName: "plan"),
    completion: .file(extensions: ["json"]))
  var plan: String

  @Option(
    help: ArgumentHelp(
      "Where the input is now, such as a presigned URL. (default: as it was planned)",
      valueName: "input"), completion: .file())
  var input: String?

  /// Creates the session of a plan.
  func session(
    output: String? = nil, overwrites: Bool = false
  ) throws(UprightError) -> ChunkSession {
    for (value, what) in [(plan, "<plan>"), (input ?? "-", "--input")] where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    let text = try PolicyInput.read(
      plan == "-" ? "/dev/stdin" : plan, remedy: "give the output of upright plan")
    do throws(UprightError) {
      return try ChunkSession(plan: text, input: input, output: output, overwrites: overwrites)
    } catch {
      throw error.code == .badData ? PolicyInput.located(error, in: plan) : error
    }
  }
}
