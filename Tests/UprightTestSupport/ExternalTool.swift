import Foundation

/// A program that tests run as an independent reference. It is found in `PATH` and run until it exits, and
/// its output is kept.
package struct ExternalTool: Sendable {
  /// The result of a run.
  package struct Outcome: Sendable {
    /// The exit code, or 128 plus the signal's number if a signal ended the process.
    package let status: Int
    /// Standard output.
    package let output: Data
    /// Standard error.
    package let errors: String

    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// The error for a run that failed.
  package struct Failure: Error, CustomStringConvertible {
    /// The command, and its standard error.
    package let description: String
  }

  /// The program's name.
  package let name: String
  /// The path of the program. `nil` if it isn't installed.
  package let path: String?

  /// Finds the first program called `name` in `PATH`. An absolute path is used as it is.
  package init(_ name: String) {
    self.name = name
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(
      separator: ":")
    let candidates = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
    path = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Whether the program is installed.
  package var isHere: Bool { path != nil }

  /// Runs the program with empty standard input.
  ///
  /// - Parameter timeout: The time in seconds after which the process is killed and `Failure` is thrown.
  package func outcome(_ arguments: [String], timeout: Double = 180) throws -> Outcome {
    guard let path else { throw Failure(description: "\(name) is not installed") }
    let scratch = try Scratch()
    let (output, errors) = (scratch.path("output"), scratch.path("errors"))
    // Uses posix_spawn and files, not Process and pipes, so that nothing waits for a run loop or a reader.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawn(&process, path, &actions, nil, &words, environ) == 0 else {
      throw Failure(description: "\(path) cannot be run")
    }
    let status = try Self.wait(for: process, seconds: timeout) {
      Failure(description: "\(name) \(arguments.joined(separator: " ")): ended after \(timeout) s")
    }
    return Outcome(
      status: status, output: try Data(contentsOf: URL(fileURLWithPath: output)),
      errors: (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "")
  }

  /// Runs the program. Throws `Failure` with its standard error if the exit code isn't 0.
  @discardableResult
  package func run(_ arguments: [String], timeout: Double = 180) throws -> Outcome {
    let outcome = try outcome(arguments, timeout: timeout)
    guard outcome.status == 0 else {
      throw Failure(
        description:
          "\(name) \(arguments.joined(separator: " ")): \(outcome.status): \(outcome.errors.suffix(2000))"
      )
    }
    return outcome
  }

  private static func wait(
    for process: pid_t, seconds: Double, late: () -> Failure
  ) throws -> Int {
    let deadline = Date(timeIntervalSinceNow: seconds)
    var status: CInt = 0
    while waitpid(process, &status, WNOHANG) != process {
      if Date() > deadline {
        kill(process, SIGKILL)
        waitpid(process, &status, 0)
        throw late()
      }
      usleep(4000)
    }
    let signal = status & 0x7f
    return Int(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
  }
}
