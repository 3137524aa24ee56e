internal import ArgumentParser
internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightEncoding
internal import UprightFiles
internal import UprightMediaIO
internal import UprightPipeline

/// `upright transcode`.
struct Transcode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Turn clips upright by policy and encode them anew.",
    discussion: """
      The output's name says its container: .mp4, .mov, .m3u8 (HLS), .ts, .flv, .mkv, .webm, .y4m, or an \
      rtmp:// or srt:// address.

      Several clips, or a folder of them (not the folders in it), go into the folder -o, or each beside \
      its input; --format says the container. --events may be a folder then, with NAME.jsonl for each \
      clip. One that fails stops no other; the exit status is that of the first one that failed, in the \
      order of the inputs.

      EXAMPLES
        upright transcode take.mov
        upright transcode raw.mp4 --frames sensor --events turns.jsonl -o live.m3u8
        upright transcode raw.mp4 --frames sensor --events turns.jsonl --canvas landscape -o wide.mp4
        upright transcode take.mov --size 720p --fit fill -o tall.mp4 --report report.json
        upright transcode one.mov two.mov holiday/ --jobs 2 -o upright/
      """)

  @Argument(
    help: ArgumentHelp(
      "Files, folders of clips, URLs, or - for standard input.", valueName: "input"),
    completion: .file())
  var inputs: [String]

  @Option(
    name: .shortAndLong,
    help: "A file, a URL, a folder, or -. (default: INPUT's name with .upright.mp4)",
    completion: .file())
  var output: String?

  @OptionGroup var deciding: PolicyArguments

  @OptionGroup(title: "Picture and encoding") var arguments: TranscodeArguments

  @Option(
    help:
      "The container where a name does not say it: the output's, or that of INPUT - into a named output."
  )
  var format: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many clips are worked on at a time. (default: by the cores)", valueName: "number"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Write what was done as JSON; a list, one entry a clip, where several are named.",
      valueName: "file"), completion: .file())
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write decisions and formats as JSON Lines while it runs.", valueName: "file"),
    completion: .file())
  var trace: String?

  @Option(help: "bar, plain, json or none. (default: bar on a terminal, else none)")
  var progress: ProgressStyle?

  @Flag(help: "Leave out clips whose output is there already: a run that was stopped goes on.")
  var skipExisting = false

  @Flag(help: "Say what would be done; write nothing.")
  var dryRun = false

  @OptionGroup var common: RunArguments

  func run() throws {
    try checkNames()
    var list = try ClipList(inputs, output: output, format: format)
    try check(list)
    if skipExisting {
      let skipped = list.removeExisting()
      if skipped > 0 && !common.quiet { StandardError.tell("\(skipped) skipped: already done") }
      if list.clips.isEmpty { return }
    }
    if list.isSeveral { return try runSeveral(list) }
    guard let clip = list.clips.first else { throw UprightError(.usage, "no clip", at: "<input>") }
    let session = try session(clip, document: deciding.document(), options: options())
    if dryRun {
      return try StandardOutput.write(session.plan().lines.map { $0.printable + "\n" }.joined())
    }
    let isNew = try list.prepareFolder()
    defer { if isNew { list.removeEmptyFolder() } }
    try runOne(session, clip)
  }

  private func runOne(_ session: TranscodeSession, _ clip: ClipList.Clip) throws {
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let trace = try trace.map { path throws(UprightError) in try TraceFile(path) }
    let reportFile = try report.map { path throws(UprightError) in try ReportFile(path) }
    let result = try result(of: session, trace: trace)
    try trace?.finish()
    try reportFile?.write(result.json)
    if !common.quiet { Summary.tell(result, output: clip.output) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  private func runSeveral(_ list: ClipList) throws {
    let jobs = min(self.jobs ?? Batch.standardJobs(), list.clips.count)
    var options = try options()
    if options.threads == 0 { options.threads = Batch.threads(jobs: jobs) }
    let document = try deciding.document()
    var sessions: [Result<TranscodeSession, UprightError>] = []
    for clip in list.clips {
      do throws(UprightError) {
        sessions.append(.success(try session(clip, document: document, options: options)))
      } catch {
        // Options that make no sense make none for any clip.
        guard error.code != .usage && error.code != .unavailable else { throw error }
        sessions.append(.failure(error))
      }
    }
    let run = BatchRun(
      clips: list.clips, sessions: sessions, jobs: jobs, common: common,
      progress: common.quiet ? .none : progress ?? .standard)
    if dryRun { return try run.tellPlans() }
    let isNew = try list.prepareFolder()
    defer { if isNew { list.removeEmptyFolder() } }
    try run.run(report: report.map { path throws(UprightError) in try ReportFile(path) })
  }

  private func options() throws(UprightError) -> TranscodeOptions {
    try arguments.options(overwrites: common.y)
  }

  private func session(
    _ clip: ClipList.Clip, document: PolicyDocument, options: TranscodeOptions
  ) throws(UprightError) -> TranscodeSession {
    let events = try deciding.source(for: clip.input, document)
    let (inputFormat, outputFormat) = formats(of: clip)
    do throws(UprightError) {
      return try TranscodeSession(
        input: clip.input, output: clip.output, inputFormat: inputFormat,
        outputFormat: outputFormat, options: options, policy: document, events: events)
    } catch {
      // Bad data before any media is opened can only be the policy's.
      throw error.code == .badData
        ? PolicyInput.located(error, in: deciding.policy ?? "phone") : error
    }
  }

  private func result(
    of session: TranscodeSession, trace: TraceFile?
  ) throws(UprightError) -> TranscodeReport {
    var meter = ProgressMeter(common.quiet ? ProgressStyle.none : progress ?? .standard)
    defer { meter.clear() }
    do throws(UprightError) {
      return try session.run { update in
        switch update {
        case .progress(let progress): meter.show(progress)
        case .decision(let decision): trace?.write(decision.json)
        case .format(let format): trace?.write(format)
        }
      }
    } catch {
      // Events that come as the run goes are found to be wrong as it goes.
      throw error.location.hasPrefix("line ")
        ? PolicyInput.located(error, in: deciding.events ?? "-") : error
    }
  }

  /// `--format` is the output's, except for standard input into an output whose name says its own.
  private func formats(of clip: ClipList.Clip) -> (input: String?, output: String?) {
    guard let format, common.inputFormat == nil, clip.input == "-", clip.output == output,
      (try? OutputContainer(target: clip.output)) != nil
    else { return (common.inputFormat, format) }
    let demuxers = ["ts": "mpegts", "m2ts": "mpegts", "mkv": "matroska", "y4m": "yuv4mpegpipe"]
    return (demuxers[format.lowercased()] ?? format, nil)
  }
}

// MARK: - Checks

extension Transcode {
  private func checkNames() throws(UprightError) {
    let names: [(String?, String)] =
      inputs.map { ($0, "<input>") } + [
        (output, "-o"), (report, "--report"), (trace, "--trace"), (arguments.audio, "--audio"),
        (arguments.slate, "--slate"),
      ]
    for (value, what) in names where value == "" {
      throw UprightError(.usage, "an empty name", at: what, remedy: "give a file's name")
    }
    if let jobs, jobs < 1 {
      throw UprightError(.usage, "\(jobs) is too few", at: "--jobs", remedy: "give 1 or more")
    }
  }

  private func check(_ list: ClipList) throws(UprightError) {
    for clip in list.clips { try deciding.check(input: clip.input) }
    if list.isSeveral { try checkSeveral() }
    try checkSideFiles(list)
  }

  /// What belongs to one clip cannot be given to several.
  private func checkSeveral() throws(UprightError) {
    for (value, option, what) in [
      (arguments.audio, "--audio", "a recording of sound belongs to one clip"),
      (trace, "--trace", "a trace follows one clip"),
      (deciding.events == "-" ? "-" : nil, "--events -", "standard input is read once"),
    ] where value != nil {
      throw UprightError(
        .usage, "\(what), and there are several", at: option,
        remedy: "leave it out, or transcode the clips one by one")
    }
  }

  /// Nothing that an argument names is written over by another.
  private func checkSideFiles(_ list: ClipList) throws(UprightError) {
    var read = list.clips.flatMap { clip in
      [("the input", Optional(clip.input))] + deciding.files(for: clip.input)
    }
    read += [("the sound", arguments.audio), ("the slate", arguments.slate)]
    for text in arguments.overlay {
      read.append(("an overlay", try Overlay(parsing: text).path))
    }
    // Standard input is no file that could be lost.
    var others = read.filter { $0.1 != "-" } + list.clips.map { ("the output", $0.output) }
    if let trace {
      try SideFile.check(trace, "--trace", against: others)
      others.append(("the trace", trace))
    }
    if let report { try SideFile.check(report, "--report", against: others) }
  }
}
