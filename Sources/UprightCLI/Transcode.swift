internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFiles
internal import UprightFrames
internal import UprightMediaIO

/// `upright transcode`.
struct Transcode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Turn videos upright by a rotation policy and encode them.",
    discussion: """
      The output's name selects its container: .mp4, .mov, .m3u8 (HLS), .ts, .flv, .mkv, .webm, .y4m, or an \
      rtmp://, rtsp:// or srt:// address.

      With several inputs, or a folder (its subfolders are skipped), the outputs are written to the folder \
      -o, or beside their inputs; --format selects the container. --events may then be a folder with \
      NAME.jsonl for each input. If one input fails, the others go on; the exit status is that of the first \
      one that failed, in the order of the inputs.

      EXAMPLES
        upright transcode take.mov
        upright transcode raw.mp4 --frames sensor --events turns.jsonl -o live.m3u8
        upright transcode raw.mp4 --frames sensor --events turns.jsonl --canvas landscape -o wide.mp4
        upright transcode take.mov --size 720p --fit fill -o tall.mp4 --report report.json
        upright transcode one.mov two.mov holiday/ --jobs 2 -o upright/
      """)

  @Argument(
    help: ArgumentHelp(
      "Files, folders of media files, URLs, or - for standard input.", valueName: "input"),
    completion: .file())
  var inputs: [String]

  @Option(
    name: .shortAndLong,
    help: "A file, a URL, a folder, or -. (default: INPUT's name with .upright.mp4)",
    completion: .file())
  var output: String?

  @OptionGroup var policyArguments: PolicyArguments

  @OptionGroup(title: "Video and encoding") var arguments: TranscodeArguments

  @Option(
    help:
      "The output's container, if it can't be derived from the name. With INPUT - and an output whose name has a container: the input's."
  )
  var format: String?

  @OptionGroup var batch: BatchArguments

  @Option(
    help: ArgumentHelp(
      "Write decisions and formats as JSON Lines, during the run.", valueName: "file"),
    completion: .file())
  var trace: String?

  @Option(
    help: "Progress: bar, plain, json or none. (default: bar on a terminal, otherwise none)")
  var progress: ProgressStyle?

  @Flag(help: "Skip inputs whose output already exists, to continue a stopped run.")
  var skipExisting = false

  @Flag(help: "Print what would be done, and write nothing.")
  var dryRun = false

  @OptionGroup var common: RunArguments

  func run() throws {
    if let channel = common.batchChannel { work(for: channel) }
    try checkNames()
    var list = try InputList(
      inputs, output: output, naming: .container(format ?? arguments.container))
    try check(list)
    if skipExisting {
      let skipped = list.removeExisting(suffixes: arguments.fileSuffixes)
      if skipped > 0 && !common.output.quiet {
        StandardError.printLine("\(skipped) skipped: already done")
      }
      if list.items.isEmpty { return }
    }
    if list.isSeveral { return try runSeveral(list) }
    guard let item = list.items.first else { throw UprightError(.usage, "no input", at: "<input>") }
    let session = try session(item, document: policyArguments.document(), options: options())
    if dryRun {
      return try StandardOutput.write(session.plan().lines.map { $0.printable + "\n" }.joined())
    }
    let isNew = try list.prepareFolder()
    defer { if isNew { list.removeEmptyFolder() } }
    try runOne(session)
  }

  private func runOne(_ session: TranscodeSession) throws {
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let trace = try trace.map { path throws(UprightError) in try TraceFile(path) }
    let reportFile = try batch.reportFile()
    let result = try result(of: session, trace: trace)
    try trace?.finish()
    try reportFile?.write(result.json)
    if !common.output.quiet { Summary.lines(result).forEach(StandardError.printLine) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  private func runSeveral(_ list: InputList) throws {
    var options = try options()
    let isParallel = options.codec?.encodesInParallel ?? true
    let jobs = isParallel ? min(batch.jobs ?? Batch.standardJobs(), list.items.count) : 1
    if options.threads == 0 { options.threads = Batch.threads(jobs: jobs) }
    let document = try policyArguments.document()
    var refusals: [Int: UprightError] = [:]
    for (index, item) in list.items.enumerated() {
      do throws(UprightError) {
        _ = try session(item, document: document, options: options)
      } catch {
        // Invalid options are invalid for all inputs.
        guard error.code != .usage && error.code != .unavailable else { throw error }
        refusals[index] = error
      }
    }
    let run = BatchRun(
      items: list.items, refusals: refusals, jobs: jobs,
      setup: ["policy": document.json, "threads": .integer(options.threads)],
      isQuiet: common.output.quiet, jsonErrors: common.output.messages.jsonErrors,
      progress: common.output.quiet ? .none : progress ?? .standard)
    if dryRun { return try run.printTexts() }
    let isNew = try list.prepareFolder()
    defer { if isNew { list.removeEmptyFolder() } }
    try run.run(report: batch.reportFile())
  }

  /// Transcodes the inputs that a batch sends. Its setup has what only one process may read or decide.
  private func work(for channel: Int32) -> Never {
    let worker = BatchWorker(channel) { [self] item, setup throws(UprightError) in
      var options = try options()
      if case .integer(let threads)? = setup["threads"] { options.threads = threads }
      let document: PolicyDocument
      do throws(PolicyError) {
        document = try PolicyDocument(json: (setup["policy"] ?? .null).compact.utf8)
      } catch { throw UprightError(error, code: .fault) }
      return TranscodeJob(
        session: try session(item, document: document, options: options), isDryRun: dryRun)
    }
    worker.run()
  }

  private func options() throws(UprightError) -> TranscodeOptions {
    try arguments.options(
      overwrites: common.output.overwrites, policy: policyArguments.policy)
  }

  private func session(
    _ item: InputList.Item, document: PolicyDocument, options: TranscodeOptions
  ) throws(UprightError) -> TranscodeSession {
    let events = try policyArguments.source(for: item.input, document)
    let (inputFormat, outputFormat) = formats(of: item)
    do throws(UprightError) {
      return try TranscodeSession(
        input: item.input, output: item.output, inputFormat: inputFormat,
        outputFormat: outputFormat, options: options, policy: document, events: events)
    } catch {
      // No media is open yet, so bad data is an error of the policy.
      throw error.code == .badData
        ? PolicyInput.located(error, in: policyArguments.policy ?? "phone") : error
    }
  }

  private func result(
    of session: TranscodeSession, trace: TraceFile?
  ) throws(UprightError) -> TranscodeReport {
    var meter = ProgressMeter(common.output.quiet ? ProgressStyle.none : progress ?? .standard)
    defer { meter.clear() }
    do throws(UprightError) {
      return try session.run { update in
        switch update {
        case .progress(let progress): meter.show(progress)
        case .decision(let decision): trace?.write(decision.json)
        case .format(let change): trace?.write(change.json)
        }
      }
    } catch {
      // Events of standard input are read and checked during the run.
      throw error.location.hasPrefix("line ")
        ? PolicyInput.located(error, in: policyArguments.events ?? "-") : error
    }
  }

  /// Returns the formats of input and output. `--format` is the output's, but with standard input and an
  /// output whose name has a container it is the input's.
  private func formats(of item: InputList.Item) -> (input: String?, output: String?) {
    guard let format, common.inputFormat == nil, item.input == "-", item.output == output,
      (try? OutputContainer(target: item.output)) != nil
    else { return (common.inputFormat, format) }
    let demuxers = ["ts": "mpegts", "m2ts": "mpegts", "mkv": "matroska", "y4m": "yuv4mpegpipe"]
    return (demuxers[format.lowercased()] ?? format, nil)
  }
}

/// One input of several.
private struct TranscodeJob: BatchedSession {
  let session: TranscodeSession
  let isDryRun: Bool

  func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult {
    if isDryRun {
      return BatchResult(text: try session.plan().lines.map { $0.printable + "\n" }.joined())
    }
    let report = try session.run { update in
      if case .progress(let update) = update { progress(update) }
    }
    return BatchResult(report, messages: Summary.lines(report, of: session.input))
  }

  func stop() { session.stop() }

  func abandon() { session.abandon() }
}

// MARK: - Checks

extension Transcode {
  private func checkNames() throws(UprightError) {
    let names: [(String?, String)] =
      inputs.map { ($0, "<input>") } + [
        (output, "-o"), (batch.report, "--report"), (trace, "--trace"),
        (arguments["audio"], "--audio"),
        (arguments["slate"], "--slate"),
      ]
    for (value, what) in names where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    try batch.check()
  }

  private func check(_ list: InputList) throws(UprightError) {
    for item in list.items { try policyArguments.check(input: item.input) }
    if list.isSeveral { try checkSeveral() }
    try checkSideFiles(list)
  }

  /// Refuses options that are valid for one input only.
  private func checkSeveral() throws(UprightError) {
    for (value, option, what) in [
      (arguments["audio"], "--audio", "an audio recording belongs to one input"),
      (trace, "--trace", "a trace covers one input"),
      (arguments["landscape-output"], "--landscape-output", "it is the output of one input"),
      (
        policyArguments.events == "-" ? "-" : nil, "--events -",
        "standard input can be read only once"
      ),
    ] where value != nil {
      throw UprightError(
        .usage, "\(what), but there are several inputs", at: option,
        remedy: "leave it out, or transcode the inputs one by one")
    }
  }

  /// Checks that `--report` and `--trace` don't overwrite a file that another argument names, and outputs none of the events
  /// and the policy. The session compares outputs with what it reads itself.
  private func checkSideFiles(_ list: InputList) throws(UprightError) {
    for item in list.items {
      let files = policyArguments.files(for: item.input).filter { $0.1 != "-" }
      try SideFile.check(item.output, "-o", against: files)
    }
    var read = list.items.flatMap { item in
      [("the input", Optional(item.input))] + policyArguments.files(for: item.input)
    }
    read += [("the audio", arguments["audio"]), ("the slate", arguments["slate"])]
    for text in arguments.texts("overlay") {
      read.append(("an overlay", try Overlay(parsing: text).path))
    }
    // Standard input can't be overwritten.
    var others = read.filter { $0.1 != "-" } + list.items.map { ("the output", $0.output) }
    if let trace {
      try SideFile.check(trace, "--trace", against: others)
      others.append(("the trace", trace))
    }
    if let report = batch.report { try SideFile.check(report, "--report", against: others) }
  }
}
