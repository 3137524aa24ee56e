internal import Glibc
internal import Synchronization
internal import UprightContainers
internal import UprightEncoding
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPolicy

/// A process of this program that works on inputs of a batch, one after another. If an input crashes it, that input
/// has failed, and no other is affected.
///
/// It is started with the arguments of this process and `--batch-channel`, so that it has the same options. It
/// inherits that SIGINT, SIGTERM and SIGHUP are blocked: a Ctrl-C of the terminal is for this process, which passes it
/// on.
final class BatchChild: Sendable {
  private let channel: MessageChannel
  private let process: pid_t
  private let ended = Latch()

  /// - Parameter setup: What the process needs besides its arguments.
  /// - Throws: `fault` if no process can be started.
  init(setup: JSONValue) throws(UprightError) {
    let (own, other) = try MessageChannel.pair()
    defer { close(other) }
    channel = own
    process = try Self.start(with: other)
    channel.send(setup)
  }

  private static func start(with channel: CInt) throws(UprightError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    // Onto itself: it isn't closed.
    unsafe posix_spawn_file_actions_adddup2(&actions, channel, channel)
    let given = CommandLine.arguments
    let arguments = given.prefix(2) + ["--batch-channel", String(channel)] + given.dropFirst(2)
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code = unsafe posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
    guard code == 0 else {
      throw UprightError(
        .fault, "no process can be started: \(unsafe String(cString: strerror(code)))",
        remedy: "give fewer --jobs")
    }
    return process
  }

  /// Whether the process has ended, so that it takes no more inputs.
  var hasEnded: Bool { ended.isOpen }

  /// Lets the process work on an input. Blocks.
  ///
  /// - Throws: What the input failed with; `fault` if the process has ended.
  func process(
    _ item: InputList.Item, observing progress: (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult {
    channel.send(item.payload)
    while let message = channel.receive() {
      if let value = message["progress"] {
        progress(SessionProgress(payload: value))
      } else if let value = message["error"] {
        throw UprightError(payload: value)
      } else if let value = message["result"] {
        return BatchResult(payload: value)
      }
    }
    let end = reap()
    // The file that it was writing under a temporary name.
    try? StagedFile.removeAbandoned(of: item.output)
    throw UprightError(
      .fault, "the process that worked on it \(end.what)", at: item.input, remedy: end.remedy)
  }

  /// Lets the process finish the input that it works on early, and begin no other.
  func stop() { channel.send(["stop": .bool(true)]) }

  /// Lets the process end: at once, without what it has not finished.
  func end() { channel.finish() }

  /// Waits until the process has ended, after `end`.
  func join() { _ = reap() }

  /// Waits until another thread has seen the process end, and kills it if it hasn't by `deadline`.
  func wait(until deadline: ContinuousClock.Instant) {
    if !ended.wait(until: deadline) { kill(process, SIGKILL) }
  }

  /// Waits for the end of the process, and says how it ended and what can be done.
  private func reap() -> (what: String, remedy: String) {
    var status: CInt = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    ended.open()
    let signal = status & 0x7F
    guard signal != 0 else {
      return ("exited with status \(status >> 8 & 0xFF)", "please report it with this input")
    }
    let name = Self.names[signal] ?? "signal \(signal)"
    return (
      "was ended by \(name) (\(unsafe String(cString: strsignal(signal))))",
      signal == SIGKILL
        ? "if the memory is full, give fewer --jobs" : "please report it with this input"
    )
  }

  private static let names: [CInt: String] = [
    SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE",
    SIGTRAP: "SIGTRAP", SIGKILL: "SIGKILL", SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU",
  ]
}
