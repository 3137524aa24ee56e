import Foundation

/// A program that runs in the background of a test and is ended with this object at the latest.
package final class RunningProgram: @unchecked Sendable {
  // Unchecked: `waitpid` is called under the lock.
  private let process: pid_t
  private let scratch: Scratch
  private let lock = NSLock()
  private var status: Int?

  /// Starts the program with empty standard input.
  ///
  /// - Parameter environment: Variables that are added to the environment of the tests.
  package init(
    _ tool: ExternalTool, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    guard let path = tool.path else {
      throw ExternalTool.Failure(description: "\(tool.name) is not installed")
    }
    scratch = try Scratch()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 1, scratch.path("said"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // Dispatch threads block signals, and child processes inherit the mask. Without this, the program would
    // not receive signals.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    let whole = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var values: [UnsafeMutablePointer<CChar>?] =
      whole.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (words + values).forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawn(&process, path, &actions, &attributes, &words, &values) == 0 else {
      throw ExternalTool.Failure(description: "\(path) cannot be run")
    }
    self.process = process
  }

  // SIGTERM first, so that the program can end its child processes.
  deinit { end(seconds: 3) }

  /// The program's standard output and standard error so far.
  package var said: String {
    (try? String(contentsOfFile: scratch.path("said"), encoding: .utf8)) ?? ""
  }

  /// The exit code, or 128 plus the signal's number. `nil` while the program runs.
  package var exitCode: Int? {
    lock.withLock {
      if let status { return status }
      var raw: CInt = 0
      guard waitpid(process, &raw, WNOHANG) == process else { return nil }
      status = Int(raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + raw & 0x7f)
      return status
    }
  }

  /// Waits for the program to exit. Returns `nil` if it is still running after `seconds` seconds. Blocks
  /// the thread.
  package func wait(seconds: Double) -> Int? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while exitCode == nil, Date() < deadline { usleep(5000) }
    return exitCode
  }

  /// Sends `signal`, waits for the program to exit, and returns its exit code. Sends SIGKILL if it is still
  /// running after `seconds` seconds. Blocks the thread.
  @discardableResult
  package func end(_ signal: CInt = SIGTERM, seconds: Double = 20) -> Int? {
    if exitCode == nil { kill(process, signal) }
    if wait(seconds: seconds) == nil { kill(process, SIGKILL) }
    return wait(seconds: 5)
  }
}
