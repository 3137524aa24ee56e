internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFiles
internal import UprightMediaIO

/// `upright preview`.
struct PreviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview",
    abstract: "Draw a contact sheet: frames before and after, and the orientation timeline.",
    discussion: """
      The input is processed as by transcode, up to the encoder. If the output's name ends with .svg, only \
      the timeline is drawn.

      EXAMPLES
        upright preview take.mov -o sheet.png
        upright preview raw.mp4 --frames sensor --events turns.jsonl --canvas follow -o sheet.png
      """)

  @Argument(help: "A file, a URL, or - for standard input.", completion: .file())
  var input: String

  @Option(
    name: .shortAndLong, help: "A .png or .svg file, or - with --format.",
    completion: .file(extensions: ["png", "svg"]))
  var output: String

  @OptionGroup var policyArguments: PolicyArguments

  @OptionGroup(title: "Video and encoding") var arguments: TranscodeArguments

  @Option(
    help: "png or svg, if the output's name has another extension or none.",
    completion: .list(["png", "svg"]))
  var format: String?

  @OptionGroup var common: RunArguments

  func run() throws {
    let drawing = DrawingFile(output, format: format)
    for (value, what) in [(input, "<input>"), (output, "-o")] where value == "" {
      throw UprightError(.usage, "the name is empty", at: what, remedy: "give a file name")
    }
    try policyArguments.check(input: input)
    let kind = try drawing.kind()
    let read = [("the input", input)] + policyArguments.files(for: input)
    try SideFile.check(output, "-o", against: read.filter { $0.1 != "-" })
    try drawing.prepare(mayReplace: common.output.overwrites)
    let document = try policyArguments.document()
    let session = try PreviewSession(
      input: input, inputFormat: common.inputFormat,
      options: arguments.options(overwrites: true, policy: policyArguments.policy),
      policy: document, events: policyArguments.source(for: input, document))
    Interruption.shared.watch(
      first: { session.stop() }, second: { _exit(Interruption.shared.status ?? 130) })
    let preview = try session.run()
    try drawing.write(kind == .png ? preview.png() : Array(preview.timeline.svg.utf8))
    if !common.output.quiet {
      for warning in preview.warnings { StandardError.printLine("warning: \(warning)") }
      if output != "-" {
        StandardError.printLine(
          "\(output): \(kind == .png ? "frames before and after, and the timeline" : "the timeline")"
        )
      }
    }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }
}

/// The file that a drawing is written to.
struct DrawingFile {
  enum Kind: String { case png, svg }

  private let path: String
  private let format: String?

  init(_ path: String, format: String? = nil) {
    self.path = path
    self.format = format
  }

  /// Returns the kind of drawing, from the format or else from the extension.
  ///
  /// - Throws: `usage` if neither is `png` or `svg`.
  func kind() throws(UprightError) -> Kind {
    let word = format ?? FilePath(path).fileExtension
    guard let kind = Kind(rawValue: word.lowercased()) else {
      throw UprightError(
        .usage, "the output must be png or svg",
        at: format.map { "--format \($0)" } ?? "-o \(path)",
        remedy: path == "-" ? "add --format png" : "end the name with .png or .svg")
    }
    return kind
  }

  /// Checks that the file can be written, before any work is done.
  ///
  /// - Throws: `cannotCreate` if it exists and may not be replaced, or can't be written.
  func prepare(mayReplace: Bool) throws(UprightError) {
    if path == "-" { return }
    if !mayReplace && FilePath(path).exists
      && StagedFile.isReplaceable(path)
    {
      throw UprightError(
        .cannotCreate, "the output already exists", at: path,
        remedy: "add --overwrite to replace it, or give another name")
    }
    try SideFile.prepare(path)
  }

  func write(_ bytes: [UInt8]) throws(UprightError) {
    if path != "-" && StagedFile.isReplaceable(path) {
      return try StagedFile(path: path).commit(bytes)
    }
    let file = path == "-" ? 1 : try SideFile.open(path)
    defer { if file > 2 { close(file) } }
    guard StandardOutput.write(bytes, to: file) else {
      throw StandardOutput.failure(path == "-" ? "standard output" : path)
    }
  }
}
