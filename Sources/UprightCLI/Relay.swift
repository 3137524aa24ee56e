internal import ArgumentParser
internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import Upright
internal import UprightLive
internal import UprightMediaIO
internal import UprightMedia

/// `upright relay`: one live session, from an input to outputs, for a hook of a media server.
struct Relay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Turn one live stream, and push it back to a server or record it.",
    discussion: """
      IN is an rtmp, rtsp, srt, udp or http address, an .sdp file that describes RTP, or a file, which is read \
      at the speed of its timestamps. An OUT is an rtmp, rtsp, srt or udp address, a file, or a folder of HLS \
      (FOLDER/ or FOLDER/index.m3u8).

      The stream is turned by its own signals and by --events: a file, - for standard input, or unix:PATH for \
      a Unix socket that relay listens on. An event without "at" takes effect at the next frame; "at" is in \
      seconds after the first frame. A line of the last two that isn't an event is reported and ignored.

      While the input is lost, the outputs continue with its last frame; relay ends, with exit status 0, when \
      it has not returned after --reconnect. An output address that fails is tried again. Options of files \
      (--start, --to, --split, --chunks, ...) are refused.

      EXAMPLES
        upright relay rtsp://localhost:8554/cam rtsp://localhost:8554/upright/cam
        upright relay rtmp://localhost/live/cam rtmp://localhost/upright/cam take.mp4 --size 720p
        upright relay 'srt://0.0.0.0:9000?mode=listener' live/ --frames sensor --events unix:/run/cam.sock
        echo '{"device": "landscapeLeft"}' | nc -UN /run/cam.sock
      """)

  @Argument(help: ArgumentHelp("The live stream.", valueName: "in"), completion: .file())
  var input: String

  @Argument(
    help: ArgumentHelp("Addresses, files or folders.", valueName: "out"), completion: .file())
  var outputs: [String]

  @OptionGroup var policyArguments: PolicyArguments

  @OptionGroup(title: "Video and encoding") var arguments: TranscodeArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long a missing input is waited for, at the start too; with 0 its first loss ends the relay.",
      valueName: "seconds"))
  var reconnect = 10.0

  @Option(
    help: ArgumentHelp(
      "Write decisions and formats as JSON Lines, during the run.", valueName: "file"),
    completion: .file())
  var trace: String?

  @OptionGroup var common: OutputArguments

  func run() throws {
    try checkNames()
    let document = try policyArguments.document()
    let session = try session(document)
    let events = try RelayEvents(policyArguments.events, for: document)
    defer { events.close() }
    let trace = Mutex(try trace.map { path throws(UprightError) in try TraceFile(path) })
    Interruption.shared.watch(
      first: { session.stop() },
      second: {
        events.close()
        _exit(Interruption.shared.status ?? 130)
      })
    UprightRuntime.keepLargeBlocksApart()
    session.warnings.forEach { printLine("warning: \($0)") }
    events.post(to: session)
    session.start { update in
      switch update {
      case .state(let state, let reason):
        let reason = reason.map { ": \($0)" } ?? ""
        // The error that ends the relay is printed at its end.
        if state != .failed { printLine(Self.word(state) + reason) }
      case .decision(let decision): trace.withLock { $0?.write(decision.json) }
      case .format(let change): trace.withLock { $0?.write(change.json) }
      case .output(let status): if let problem = Self.problem(of: status) { printLine(problem) }
      case .change, .outputRemoved, .recording: break
      }
    }
    while !session.join(timeout: 30) { UprightRuntime.returnFreeMemory() }
    try trace.withLock { (trace) throws(UprightError) in try trace?.finish() }
    if let status = Interruption.shared.status { throw ExitCode(status) }
    if let error = session.error { throw error }
    let problems = session.snapshot.outputs.compactMap(Self.problem)
    if problems.count == outputs.count {
      throw UprightError(
        .inputOutput, "no output was written to the end", at: problems.joined(separator: "; "))
    }
  }

  /// Returns why an output doesn't work, with its name.
  private static func problem(of status: LiveOutputStatus) -> String? {
    status.reason.map { "output \(status.output.displayName): \($0)" }
  }

  private func printLine(_ line: String) { if !common.quiet { StandardError.printLine(line) } }

  private static func word(_ state: LiveState) -> String {
    switch state {
    case .waiting: "waiting for the input"
    case .live: "live"
    case .inputLost: "the input is lost"
    case .recovering: "recovering"
    case .ended: "ended"
    case .failed: "failed"
    }
  }
}

// MARK: - The session

extension Relay {
  private func session(_ document: PolicyDocument) throws(UprightError) -> LiveSession {
    let options = try arguments.options(overwrites: common.overwrites)
    var configuration = LiveConfiguration(
      input: try Self.input(input),
      outputs: try outputs.map { (name) throws(UprightError) in try LiveOutput(named: name) },
      policy: document,
      options: options)
    guard (0...86400).contains(reconnect) else {
      throw UprightError(
        .usage, "\(reconnect) is not a waiting time", at: "--reconnect", remedy: "use 0 to 86400")
    }
    configuration.inputTimeout = reconnect
    if arguments["segment"] != nil { configuration.segmentSeconds = options.segmentDuration }
    do throws(UprightError) { return try LiveSession(configuration) } catch {
      // No media is open yet, so bad data is an error of the policy or the session description.
      guard error.code == .badData, !error.location.hasPrefix("SDP") else { throw error }
      throw PolicyInput.located(error, in: policyArguments.policy ?? "phone")
    }
  }

  private static func input(_ text: String) throws(UprightError) -> LiveInput {
    guard text != "-" else {
      throw UprightError(
        .usage, "standard input is not a live stream", at: "<in>",
        remedy: "name an address, or use upright transcode")
    }
    guard text.lowercased().hasSuffix(".sdp"), InputTrust.scheme(of: text) == nil else {
      return LiveInput(named: text)
    }
    return .rtp(
      description: String(
        decoding: try PolicyInput.read(text, remedy: "check the path"), as: UTF8.self))
  }

  /// Checks that no name is empty, and that no file is read and written.
  private func checkNames() throws(UprightError) {
    for name in [input] + outputs where name.isEmpty {
      throw UprightError(.usage, "the name is empty", at: "<in> <out>", remedy: "give a name")
    }
    // Standard input can't be overwritten.
    let read =
      ([("the input", input), ("the slate", arguments["slate"])]
      + policyArguments.files(for: input)).filter { $0.1 != "-" }
    for output in outputs where InputTrust.scheme(of: output) == nil {
      try SideFile.check(output, "<out>", against: read)
    }
    if let trace {
      try SideFile.check(
        trace, "--trace", against: read + outputs.map { ("the output", Optional($0)) })
    }
  }
}
