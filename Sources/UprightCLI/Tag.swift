internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightFiles
internal import UprightPolicy
internal import UprightMediaIO

/// `upright tag`.
struct Tag: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Rewrite the orientation metadata of files without re-encoding.",
    discussion: """
      Nothing is decoded. In .mp4, .mov, .m4v and .3gp, the display matrix of the tracks that are shown is \
      overwritten, and no other byte: in a copy of the file, or with --in-place in the file itself. Another \
      container than the input's, .ts, .flv, .mkv, .webm, .h264 and .hevc are written anew with the same \
      packets and a single orientation signal.

      With --record, the old bytes are appended to a file before a file is changed in place. --undo restores \
      them, unless the file was changed since.

      With several inputs, or a folder (its subfolders are skipped), -o is a folder.

      EXAMPLES
        upright tag take.mp4 -o fixed.mp4 --orientation right
        upright tag take.ts  -o fixed.ts  --orientation up         remove every signal
        upright tag --in-place holiday/ --orientation 90 --record undo.jsonl
        upright tag --undo undo.jsonl
      """)

  @Argument(
    help: ArgumentHelp(
      "Files, folders of media files, URLs, or - for standard input.", valueName: "input"),
    completion: .file())
  var inputs: [String] = []

  @Option(name: .shortAndLong, help: "A file, a URL, a folder, or -.", completion: .file())
  var output: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How stored frames must be turned to be upright: up, right, down, left, upMirrored, rightMirrored, downMirrored, leftMirrored, degrees clockwise (0, 90, 180, 270), or EXIF's 1 to 8.",
      valueName: "orientation"), completion: .orientation)
  var orientation: String?

  @Flag(help: "Change the inputs themselves.")
  var inPlace = false

  @Option(
    help: ArgumentHelp(
      "With --in-place: append what --undo needs before a file is changed.", valueName: "file"),
    completion: .file())
  var record: String?

  @Option(
    help: ArgumentHelp("Restore the files of a record, byte for byte.", valueName: "file"),
    completion: .file())
  var undo: String?

  @Flag(help: "Keep the time of the last modification.")
  var keepTime = false

  @Flag(help: "Turn stereoscopic and 360 degree video, although its description becomes wrong.")
  var force = false

  @Flag(help: "Write SEI messages into H.264 and HEVC, in addition to the container's field.")
  var sei = false

  @Flag(help: "Treat damage in the input as an error (exit code 65).")
  var strict = false

  @Option(help: "The output's container, if it can't be derived from the name.")
  var format: String?

  @OptionGroup var batch: BatchArguments

  @OptionGroup var common: RunArguments

  func run() throws {
    if let channel = common.batchChannel { work(for: channel) }
    try checkNames()
    if let undo { return try restore(undo) }
    let options = try options()
    let list = try inputList()
    try checkSideFiles(list.items)
    let sessions = try list.items.map { item throws(UprightError) in try session(item, options) }
    let isNew = try list.folder.map { _ throws(UprightError) in try list.prepareFolder() } ?? false
    defer { if isNew { list.removeEmptyFolder() } }
    if !list.isSeveral, let session = sessions.first { return try runOne(session) }
    let run = BatchRun(
      items: list.items, jobs: max(1, batch.jobs ?? Batch.standardJobs()),
      isQuiet: common.output.quiet,
      jsonErrors: common.output.messages.jsonErrors)
    try run.run(report: batch.reportFile())
  }

  private func runOne(_ session: TagSession) throws {
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let reportFile = try batch.reportFile()
    let result = try session.run()
    try reportFile?.write(result.json)
    if !common.output.quiet { messages(result, of: nil).forEach(StandardError.printLine) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  /// Tags the inputs that a batch sends.
  private func work(for channel: Int32) -> Never {
    let worker = BatchWorker(channel) { [self] item, _ throws(UprightError) in
      TagJob(session: try session(item, try options())) { [self] in messages($0, of: item.input) }
    }
    worker.run()
  }

  private func messages(_ result: TranscodeReport, of input: String?) -> [String] {
    let warnings = Summary.warnings(result, of: input)
    guard output != "-", let turn = result.formats.first?.turn else { return warnings }
    let copied = inPlace ? "" : "\(result.output.frames.of("frame")) copied, "
    let note = Self.note(on: turn, of: result.output.path).map { "\(result.output.path): \($0)" }
    return warnings + ["\(result.output.path): \(copied)\(turn.name)"] + [note].compactMap(\.self)
  }

  /// Returns what players ignore of an orientation, as VLC 3.0 and mpv 0.35 do; `nil` if nothing.
  private static func note(on turn: ImageOrientation, of path: String) -> String? {
    let container = FilePath(path).fileExtension.lowercased()
    let ignored: String
    switch container {
    case "mp4", "m4v", "mov", "3gp", "3g2":
      guard turn.isMirrored else { return nil }
      ignored = "a mirrored display matrix"
    case "mkv", "webm", "ts", "m2ts", "flv", "h264", "hevc":
      guard turn != .up else { return nil }
      ignored = "the orientation in .\(container)"
    default: return nil
    }
    return "note: VLC and mpv ignore \(ignored); transcode turns the pixels"
  }

  /// `--undo`: restores all files that can be restored.
  ///
  /// - Throws: The status of the first one that can't be.
  private func restore(_ record: String) throws {
    var first: Failure?
    try TagUndo(record: record).run { path, error in
      if let error {
        let failure = Failure(
          error, of: UprightCommand.self, asJSON: common.output.messages.jsonErrors)
        failure.print()
        first = first ?? failure
      } else if !common.output.quiet {
        StandardError.printLine("\(path): restored")
      }
    }
    if let first { throw ExitCode(first.status) }
  }
}

// MARK: - Arguments

extension Tag {
  private func checkNames() throws(UprightError) {
    let names: [(String?, String)] =
      inputs.map { ($0, "<input>") } + [
        (output, "-o"), (batch.report, "--report"), (record, "--record"), (undo, "--undo"),
      ]
    for (value, what) in names where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    try batch.check()
    if undo != nil {
      guard inputs.isEmpty, output == nil, orientation == nil, !inPlace, record == nil else {
        throw UprightError(
          .usage, "the record names the files and what they were", at: "--undo",
          remedy: "give --undo alone")
      }
      return
    }
    if inputs.isEmpty {
      throw UprightError(.usage, "no input", at: "<input>", remedy: "name a file or a folder")
    }
    if orientation == nil {
      throw UprightError(
        .usage, "missing expected argument", at: "--orientation", remedy: "give an orientation")
    }
    if inPlace == (output != nil) {
      throw UprightError(
        .usage, inPlace ? "nothing else is written in place" : "missing expected argument",
        at: "--output", remedy: "give either --output or --in-place")
    }
    if record != nil && !inPlace {
      throw UprightError(
        .usage, "a copy needs no record", at: "--record", remedy: "give it with --in-place")
    }
  }

  private func options() throws(UprightError) -> TagSession.Options {
    let word = orientation ?? ""
    guard let value = ImageOrientation(argument: word) else {
      throw UprightError(
        .usage, "\(word) is not an orientation", at: "--orientation",
        remedy: "use up, right, down, left, upMirrored and so on, 0, 90, 180, 270, or EXIF's 1 to 8"
      )
    }
    var options = TagSession.Options(orientation: value)
    options.writesMessages = sei
    options.isStrict = strict
    options.overwrites = common.output.overwrites
    options.keepsTime = keepTime
    options.isForced = force
    options.record = record
    return options
  }

  private func inputList() throws(UprightError) -> InputList {
    guard inPlace else {
      return try InputList(
        inputs, output: output, naming: format.map { .container($0) } ?? .unchanged)
    }
    return try InputList(inPlace: inputs)
  }

  /// Checks that `--report` and `--record` don't overwrite a file that another argument names.
  private func checkSideFiles(_ items: [InputList.Item]) throws(UprightError) {
    let others = items.flatMap { [("the input", $0.input), ("the output", $0.output)] }
      .map { ($0.0, Optional($0.1)) }
    let read = others.filter { $0.0 == "the output" || $0.1 != "-" }
    if let record { try SideFile.check(record, "--record", against: read) }
    if let report = batch.report {
      try SideFile.check(report, "--report", against: read + [("the record", record)])
    }
  }

  private func session(
    _ item: InputList.Item, _ options: TagSession.Options
  ) throws(UprightError) -> TagSession {
    inPlace
      ? try TagSession(inPlace: item.input, options: options)
      : try TagSession(
        input: item.input, output: item.output, inputFormat: common.inputFormat,
        outputFormat: format, options: options)
  }
}

/// One input of several.
private struct TagJob: BatchedSession {
  let session: TagSession
  let messages: @Sendable (TranscodeReport) -> [String]

  func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult {
    let report = try session.run()
    return BatchResult(report, messages: messages(report))
  }

  func stop() { session.stop() }

  func abandon() { session.abandon() }
}

extension ImageOrientation {
  /// Creates an orientation from its name, EXIF's number (1 to 8), or degrees clockwise (a multiple of 90).
  /// Returns `nil` for other texts.
  init?(argument: String) {
    if let named = ImageOrientation(name: argument) {
      self = named
      return
    }
    guard let number = Int(argument) else { return nil }
    if let exif = ImageOrientation(exif: number) {
      self = exif
    } else if let turned = ImageOrientation(flippedHorizontally: false, clockwiseDegrees: number) {
      self = turned
    } else {
      return nil
    }
  }
}
