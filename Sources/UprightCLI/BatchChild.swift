internal import Glibc
internal import Synchronization
internal import UprightMedia
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
  private let process: ChildProcess
  private let ended = Latch()

  /// - Parameter setup: What the process needs besides its arguments.
  /// - Throws: `fault` if no process can be started.
  init(setup: JSONValue) throws(UprightError) {
    let (own, other) = try MessageChannel.pair()
    defer { close(other) }
    channel = own
    let given = CommandLine.arguments
    let number = String(ChildProcess.firstDescriptor)
    process = try ChildProcess(
      arguments: Array(given.prefix(2)) + ["--batch-channel", number] + given.dropFirst(2),
      descriptors: [other])
    channel.send(setup)
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
      .fault, "the process that worked on it \(end.description)", at: item.input,
      remedy: end.signal == SIGKILL
        ? "if the memory is full, give fewer --jobs" : "please report it with this input")
  }

  /// Lets the process finish the input that it works on early, and begin no other.
  func stop() { channel.send(["stop": .bool(true)]) }

  /// Lets the process end: at once, without what it has not finished.
  func end() { channel.finish() }

  /// Waits until the process has ended, after `end`.
  func join() { _ = reap() }

  /// Waits until another thread has seen the process end, and kills it if it hasn't by `deadline`.
  func wait(until deadline: ContinuousClock.Instant) {
    if !ended.wait(until: deadline) { process.send(SIGKILL) }
  }

  /// Waits for the end of the process.
  private func reap() -> ChildProcess.End {
    let end = process.wait()
    ended.open()
    return end
  }
}
