internal import ArgumentParser
internal import UprightFiles
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightMedia

/// `upright check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find the files that players show wrong, and mend them.",
    discussion: """
      Looks through files and folders, with their subfolders, and says for each file which orientation signals it \
      has and in which class of players it stands wrong: file (browsers, AVPlayer and FFmpeg play the file itself), \
      hls (HLS made by copying packets), hardware (decoders whose frames stay on the GPU), sei (players that honour \
      SEI messages too). Nothing is decoded.

      A playlist (.m3u8) is checked for the rules of RFC 8216, and of its second edition, draft-pantos-hls-rfc8216bis, \
      for low latency, and for the orientation of its media. A single playlist's violations are printed with their \
      lines, clauses and the names of the rules. With --reload it is loaded again, with blocking reloads if its server \
      has them, and compared with what it was. If it can't be loaded again, it is tried five times, a second apart.

      --fix metadata writes the orientation where files say it, as tag does; --fix pixels turns the frames, as \
      transcode does. Only files that need it are written.

      The exit status is 0 if nothing is wrong, 1 if something is, and that of the first failure if a file can't be \
      read. It is 65 if a single playlist violates a rule that playlists must obey. With --fix, it is 1 if something \
      can't be mended that way.

      EXAMPLES
        upright check holiday/
        upright check library/ --json > library.json
        upright check library/ --fix metadata --in-place --record undo.jsonl
        upright check library/ --fix pixels -o upright/
        upright check http://127.0.0.1:8080/live/stage/index.m3u8 --reload 60
      """)

  @Argument(
    help: ArgumentHelp("Files, folders, or http and https URLs.", valueName: "path"),
    completion: .file())
  var inputs: [String]

  @Option(
    help: ArgumentHelp(
      "Load a live playlist again for this time, or until it ends.", valueName: "seconds"))
  var reload: Double?

  @Flag(help: "Print JSON.")
  var json = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many files are checked in parallel. (default: by the number of cores)",
      valueName: "number"))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Mend what is wrong: metadata or pixels.", valueName: "how"),
    completion: .list(CheckedFile.Fix.allCases.map(\.rawValue)))
  var fix: String?

  @Option(
    name: .shortAndLong,
    help: "With --fix: the folder of the mended files. It is created if it doesn't exist.",
    completion: .directory)
  var output: String?

  @Flag(help: "With --fix metadata: change the files themselves.")
  var inPlace = false

  @Option(
    help: ArgumentHelp(
      "With --in-place: append what `tag --undo` needs before a file is changed.",
      valueName: "file"), completion: .file())
  var record: String?

  @Flag(
    name: [.customShort("y"), .customLong("overwrite")], help: "Replace existing mended files.")
  var overwrites = false

  @OptionGroup var messages: MessageArguments

  /// The socket of a process that works for a batch (`BatchWorker`).
  @Option(help: .private)
  var batchChannel: Int32?

  /// The exit status for something wrong.
  static var wrong: ExitCode { ExitCode(1) }

  func validate() throws {
    if let reload, !(0...86400).contains(reload) {
      throw ValidationError("'--reload' must be 0 to 86400 seconds")
    }
  }

  func run() throws {
    let repair = try repair()
    if let batchChannel {
      BatchWorker(batchChannel) { item, _ in CheckJob(item: item, repair: repair) }.run()
    }
    if inputs.count == 1, let input = inputs.first, repair == nil,
      reload != nil || PlaylistCheck.isPlaylist(input)
    {
      return try PlaylistCheck(input: input, reload: reload, isJSON: json).run()
    }
    if reload != nil {
      throw UprightError(
        .usage, "only one playlist is loaded again", at: "--reload", remedy: "name one playlist")
    }
    let run = CheckRun(
      walk: CheckWalk(inputs), folder: output, jobs: jobs ?? Processors.count, isJSON: json,
      isQuiet: messages.quiet, jsonErrors: messages.jsonErrors, repair: repair)
    try run.run()
  }

  /// Returns how files are mended; `nil` if they are only checked.
  private func repair() throws(UprightError) -> CheckJob.Repair? {
    if inputs.contains("") || output == "" || record == "" {
      throw UprightError(
        .usage, "a name is empty", at: "check", remedy: "give the name of a file or folder")
    }
    if inputs.contains("-") {
      throw UprightError(
        .usage, "standard input can't be checked", at: "-", remedy: "name a file or a folder")
    }
    if let jobs, jobs < 1 {
      throw UprightError(.usage, "\(jobs) is too few", at: "--jobs", remedy: "give 1 or more")
    }
    guard let fix else {
      guard output == nil, !inPlace, record == nil, !overwrites else {
        throw UprightError(
          .usage, "nothing is written", at: inPlace ? "--in-place" : "-o",
          remedy: "add --fix metadata or --fix pixels")
      }
      return nil
    }
    guard let kind = CheckedFile.Fix(rawValue: fix) else {
      throw UprightError(
        .usage, "\(fix) is no fix", at: "--fix", remedy: "use metadata or pixels")
    }
    if inPlace, kind == .pixels {
      throw UprightError(
        .usage, "frames aren't turned in place", at: "--in-place", remedy: "give a folder with -o")
    }
    if inPlace == (output != nil) {
      throw UprightError(
        .usage, inPlace ? "nothing else is written in place" : "missing expected argument",
        at: "--output",
        remedy: kind == .metadata ? "give either -o or --in-place" : "give a folder with -o")
    }
    if record != nil, !inPlace {
      throw UprightError(
        .usage, "a copy needs no record", at: "--record", remedy: "give it with --in-place")
    }
    return CheckJob.Repair(
      fix: kind, isInPlace: inPlace, record: record, overwrites: overwrites,
      threads: Batch.threads(jobs: jobs ?? Processors.count))
  }
}
