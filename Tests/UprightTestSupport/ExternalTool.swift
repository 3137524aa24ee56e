import Foundation

/// A program that a test asks for a second opinion: found on the path, run to its end, its output kept.
package struct ExternalTool: Sendable {
  /// What a run left behind.
  package struct Outcome: Sendable {
    /// The exit code; 128 plus the signal's number where one ended it.
    package let status: Int
    /// Standard output.
    package let output: Data
    /// Standard error.
    package let errors: String

    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  /// A run that did not go as it should.
  package struct Failure: Error, CustomStringConvertible {
    /// What was run, and what it said.
    package let description: String
  }

  /// The program's name.
  package let name: String
  /// Where it was found; nil: it is not installed.
  package let path: String?

  /// The first program called `name` on the path, or the one at `name` where that is a path itself.
  package init(_ name: String) {
    self.name = name
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(
      separator: ":")
    let candidates = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
    path = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Whether it is installed.
  package var isHere: Bool { path != nil }

  /// Runs it with nothing on its standard input.
  ///
  /// - Parameter timeout: seconds after which it is ended, which counts as a failure.
  package func outcome(_ arguments: [String], timeout: Double = 180) throws -> Outcome {
    guard let path else { throw Failure(description: "\(name) is not installed") }
    let scratch = try Scratch()
    let (output, errors) = (scratch.path("output"), scratch.path("errors"))
    // posix_spawn and files, not Process and pipes: nothing here may wait for a run loop or a reader.
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

  /// Runs it; anything but exit code 0 is thrown with what it said.
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
