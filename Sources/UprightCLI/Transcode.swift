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

  @Option(
    name: .shortAndLong, help: "A file, a URL, or -. (default: INPUT's name with .upright.mp4)")
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Orientation events, JSON Lines; - reads them as the run goes.", valueName: "file"))
  var events: String?

  @Option(
    help: ArgumentHelp(
      "A policy file or a built-in's name (see upright policies).", valueName: "policy"))
  var policy: String?

  @OptionGroup(title: "Picture and encoding") var arguments: TranscodeArguments

  @Option(
    help:
      "The container where a name does not say it: the output's, or that of INPUT - into a named output."
  )
  var format: String?

  @Option(help: ArgumentHelp("Write what was done as JSON.", valueName: "file"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Write decisions and formats as JSON Lines while it runs.", valueName: "file"))
  var trace: String?

  @Option(help: "bar, plain, json or none. (default: bar on a terminal, else none)")
  var progress: ProgressStyle?

  @Flag(help: "Say what would be done; write nothing.")
  var dryRun = false

  @OptionGroup var common: RunArguments

  private func check() throws(MediaError) {
    for (value, what) in [
      (input, "<input>"), (output, "-o"), (report, "--report"), (trace, "--trace"),
      (arguments.audio, "--audio"), (arguments.slate, "--slate"),
    ]
    where value == "" {
      throw MediaError(.usage, "an empty name", at: what, remedy: "give a file's name")
    }
    if input == "-" && events == "-" {
      throw MediaError(
        .usage, "standard input cannot be the clip and the events", at: "--events -",
        remedy: "give one of them as a file")
    }
    try checkSideFiles()
  }

  /// Nothing that an argument names is written over by another.
  private func checkSideFiles() throws(MediaError) {
    var read = [
      ("the input", input), ("the events", events), ("the policy", policy),
      ("the sound", arguments.audio), ("the slate", arguments.slate),
    ]
    for text in arguments.overlay {
      read.append(("an overlay", try Overlay(parsing: text).path))
    }
    // Standard input is no file that could be lost.
    var others: [(String, String?)] = read.filter { $0.1 != "-" } + [("the output", outputName)]
    if let trace {
      try SideFile.check(trace, "--trace", against: others)
      others.append(("the trace", trace))
    }
    if let report { try SideFile.check(report, "--report", against: others) }
  }

  func run() throws {
    try check()
    let session = try session()
    if dryRun {
      return try StandardOutput.write(session.plan().lines.map { $0 + "\n" }.joined())
    }
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        session.abandon()
        _exit(Interruption.shared.status ?? 130)
      })
    let trace = try trace.map { path throws(MediaError) in try TraceFile(path) }
    let reportFile = try report.map { path throws(MediaError) in try ReportFile(path) }
    let result = try result(of: session, trace: trace)
    try trace?.finish()
    try reportFile?.write(result.json)
    if !common.quiet { say(result) }
    if let status = Interruption.shared.status { throw ExitCode(status) }
  }

  private func session() throws(MediaError) -> TranscodeSession {
    let options = try arguments.options(overwrites: common.y)
    let document = try PolicyInput.policy(policy)
    let events = try PolicyInput.events(events, for: document)
    let (inputFormat, outputFormat) = formats
    do throws(MediaError) {
      return try TranscodeSession(
        input: input, output: outputName, inputFormat: inputFormat, outputFormat: outputFormat,
        options: options, policy: document, events: events)
    } catch {
      // Bad data before any media is opened can only be the policy's.
      throw error.code == .badData ? PolicyInput.located(error, in: policy ?? "phone") : error
    }
  }

  private func result(
    of session: TranscodeSession, trace: TraceFile?
  ) throws(MediaError) -> TranscodeReport {
    let meter = ProgressMeter(common.quiet ? ProgressStyle.none : progress ?? .standard)
    defer { meter.clear() }
    do throws(MediaError) {
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
        ? PolicyInput.located(error, in: events ?? "-") : error
    }
  }

  /// `--format` is the output's, except for standard input into an output whose name says its own.
  private var formats: (input: String?, output: String?) {
    guard let format, common.inputFormat == nil, input == "-", output != nil,
      (try? OutputContainer(target: outputName)) != nil
    else { return (common.inputFormat, format) }
    let demuxers = ["ts": "mpegts", "m2ts": "mpegts", "mkv": "matroska", "y4m": "yuv4mpegpipe"]
    return (demuxers[format.lowercased()] ?? format, nil)
  }

  private var outputName: String {
    if let output { return output }
    if input == "-" { return "upright.mp4" }
    let url = URL(fileURLWithPath: input)
    let name = url.deletingPathExtension().lastPathComponent + ".upright.mp4"
    return input.contains("://")
      ? name : url.deletingLastPathComponent().appendingPathComponent(name).relativePath
  }

  /// What was made, by name.
  private func written(_ result: TranscodeReport) -> String {
    guard let first = result.files.first, let last = result.files.last else { return outputName }
    return first == last ? first : "\(first) to \(last)"
  }

  private func say(_ result: TranscodeReport) {
    for warning in result.warnings { StandardError.write("upright: warning: \(warning)\n") }
    guard outputName != "-" else { return }
    let rate = result.wall > 0 ? Int(Double(result.frames) / result.wall) : 0
    let seconds = (result.wall * 100).rounded() / 100
    StandardError.write(
      "upright: \(written(result)): \(result.frames) frames, "
        + result.formats.joined(separator: ", then ") + ", in \(seconds) s (\(rate) fps)\n")
  }
}
