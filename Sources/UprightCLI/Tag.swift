internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightFiles
internal import UprightMediaIO
internal import UprightPipeline

/// `upright tag`.
struct Tag: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy a file without re-encoding and rewrite its orientation metadata.",
    discussion: """
      Nothing is decoded. Every orientation signal of the input (the track's matrix, a rotate tag, SEI \
      messages) is replaced: in .mp4 and .mov by the track's display matrix, in .mkv and .webm by the \
      projection's roll, in .ts, .flv, .h264 and .hevc by SEI messages.

      EXAMPLES
        upright tag take.mp4 -o fixed.mp4 --orientation right
        upright tag take.mp4 -o fixed.mp4 --orientation 90
        upright tag take.ts  -o fixed.ts  --orientation up         remove every signal
      """)

  @Argument(help: "A file, a URL, or - for standard input.", completion: .file())
  var input: String

  @Option(name: .shortAndLong, help: "A file, a URL, or -.", completion: .file())
  var output: String

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How stored frames must be turned to be upright: up, right, down, left, upMirrored, rightMirrored, downMirrored, leftMirrored, degrees clockwise (0, 90, 180, 270), or EXIF's 1 to 8.",
      valueName: "orientation"), completion: .orientation)
  var orientation: String

  @Flag(help: "Write SEI messages into H.264 and HEVC, in addition to the container's field.")
  var sei = false

  @Flag(help: "Keep GPS positions in the metadata.")
  var keepLocation = false

  @Flag(help: "Treat damage in the input as an error (exit code 65).")
  var strict = false

  @Option(help: "The output's container, if it can't be derived from the name.")
  var format: String?

  @Option(
    help: ArgumentHelp("Write a report as JSON.", valueName: "file"), completion: .file())
  var report: String?

  @OptionGroup var common: RunArguments

  func run() throws {
    for (value, what) in [(input, "<input>"), (output, "-o"), (report, "--report")]
    where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    if let report {
      try SideFile.check(
        report, "--report",
        against: [("the input", input == "-" ? nil : input), ("the output", output)])
    }
    let session = try session()
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let reportFile = try report.map { path throws(UprightError) in try ReportFile(path) }
    let result = try session.run()
    try reportFile?.write(result.json)
    if !common.output.quiet {
      let written = result.output
      let dropped = written.dropped.map { "left out: \($0)" }
      for warning in result.warnings + dropped { StandardError.printLine("warning: \(warning)") }
      if output != "-" {
        StandardError.printLine(
          "\(written.path): \(written.frames.of("frame")) copied, \(session.orientation.name)")
      }
    }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  private func session() throws(UprightError) -> TagSession {
    guard let value = ImageOrientation(argument: orientation) else {
      throw UprightError(
        .usage, "\(orientation) is not an orientation", at: "--orientation",
        remedy: "use up, right, down, left, upMirrored and so on, 0, 90, 180, 270, or EXIF's 1 to 8"
      )
    }
    var options = TagSession.Options(orientation: value)
    options.writesMessages = sei
    options.keepsLocation = keepLocation
    options.isStrict = strict
    options.overwrites = common.output.overwrites
    return try TagSession(
      input: input, output: output, inputFormat: common.inputFormat, outputFormat: format,
      options: options)
  }
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
