internal import ArgumentParser
internal import Foundation
internal import MediaIO
internal import RotationPolicy
internal import Upright

/// `upright transcode`.
struct Transcode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Turn a clip upright by policy and encode it anew.",
    discussion: """
      The output's name says its container: .mp4, .mov, .m3u8 (HLS), .ts, .flv, .mkv, .webm, .y4m, or an \
      rtmp:// or srt:// address.

      EXAMPLES
        upright transcode take.mov
        upright transcode raw.mp4 --frames sensor --events turns.jsonl -o live.m3u8
        upright transcode raw.mp4 --frames sensor --events turns.jsonl --canvas landscape -o wide.mp4
        upright transcode take.mov --size 720p --fit fill -o tall.mp4 --report report.json
      """)

  @Argument(help: "A file, a URL, or - for standard input.")
  var input: String

  @Option(name: .shortAndLong, help: "A file, a URL, or -. (default: INPUT's name with .upright.mp4)")
  var output: String?

  @Option(help: ArgumentHelp("Orientation events, JSON Lines; - reads them as the run goes.", valueName: "file"))
  var events: String?

  @Option(help: ArgumentHelp("A policy file or a built-in's name (see upright policies).", valueName: "policy"))
  var policy: String?

  @OptionGroup(title: "Picture and encoding") var arguments: TranscodeArguments

  @Option(help: "The output's container where its name does not say it.")
  var format: String?

  @Option(help: "The input's container where it cannot be recognised.")
  var inputFormat: String?

  @Option(help: ArgumentHelp("Write what was done as JSON.", valueName: "file"))
  var report: String?

  @Option(help: ArgumentHelp("Write decisions and formats as JSON Lines while it runs.", valueName: "file"))
  var trace: String?

  @Option(help: "bar, plain, json or none. (default: bar on a terminal, else none)")
  var progress: ProgressStyle?

  @Flag(name: .short, help: "Replace an output that is there.")
  var y = false

  @Flag(help: "Say what would be done; write nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Say nothing but errors.")
  var quiet = false

  @Flag(help: "Pass on what the FFmpeg libraries say.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  func run() throws {
    let session = try TranscodeSession(
      input: input, output: outputName, inputFormat: inputFormat, outputFormat: format,
      options: arguments.options(overwrites: y), policy: PolicyInput.policy(policy),
      events: PolicyInput.events(events))
    if dryRun {
      for line in try session.plan().lines { print(line) }
      return
    }
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let trace = try trace.map { path throws(MediaError) in try TraceFile(path) }
    let reportFile = try report.map { path throws(MediaError) in try ReportFile(path) }
    let meter = ProgressMeter(quiet ? ProgressStyle.none : progress ?? .standard)
    let result = try session.run { update in
      switch update {
      case .progress(let progress): meter.show(progress)
      case .decision(let decision): trace?.write(decision.json)
      case .format(let format): trace?.write(format)
      }
    }
    meter.clear()
    try trace?.close()
    try reportFile?.write(result.json)
    if !quiet { say(result) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  private var outputName: String {
    if let output { return output }
    if input == "-" { return "upright.mp4" }
    let url = URL(fileURLWithPath: input)
    let name = url.deletingPathExtension().lastPathComponent + ".upright.mp4"
    return input.contains("://")
      ? name : url.deletingLastPathComponent().appendingPathComponent(name).relativePath
  }

  private func say(_ result: TranscodeReport) {
    for warning in result.warnings { StandardError.write("upright: warning: \(warning)\n") }
    guard outputName != "-" else { return }
    let rate = result.wall > 0 ? Int(Double(result.frames) / result.wall) : 0
    let seconds = (result.wall * 100).rounded() / 100
    StandardError.write(
      "upright: \(outputName): \(result.frames) frames, "
        + result.formats.joined(separator: ", then ") + ", in \(seconds) s (\(rate) fps)\n")
  }
}
