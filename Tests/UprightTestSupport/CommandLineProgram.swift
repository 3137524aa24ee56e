import Foundation

/// The `upright` executable that was built beside the tests, run as a separate process.
public final class CommandLineProgram {
  /// What the process reads on standard input.
  public enum Input {
    case nothing
    /// A pipe with this data, which is not seekable.
    case pipe(Data)
    /// A pipe into which nothing is written and that stays open.
    case silence
  }

  /// Where standard output goes.
  public enum Output {
    case kept
    /// An existing file or device, opened for writing.
    case path(String)
    /// A pipe whose reader reads this many bytes and then closes it.
    case reader(bytes: Int)
  }

  /// The result of a run.
  public struct Outcome: Sendable {
    /// The exit code. `nil` if a signal ended the process.
    public let status: Int?
    /// The signal that ended the process. `nil` if it exited.
    public let signal: Int?
    /// Standard output. Empty if it was not kept.
    public let output: Data
    /// Standard error.
    public let errors: String

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines of standard error.
    public var lines: [String] { errors.split(separator: "\n").map(String.init) }
    /// The lines of standard error that are warnings.
    public var warnings: [String] { lines.filter { $0.hasPrefix("upright: warning: ") } }
    /// The warnings about anything but what the output lacks.
    public var problems: [String] { warnings.filter { !$0.contains("warning: left out: ") } }
    /// Standard output as JSON. `null` if it isn't valid JSON.
    public var json: JSON {
      (try? JSONDecoder().decode(JSON.self, from: output)) ?? .null
    }
  }

  /// The error for a process that can't be started or that doesn't exit within its timeout.
  public struct Hang: Error, CustomStringConvertible {
    /// The command, and the timeout if that is the cause.
    public let description: String
  }

  /// The path of the executable: in the folder of the test bundle, or else in `.build`.
  public static let path: String = {
    let candidates = [
      Fixtures.buildFolder.appendingPathComponent("upright").path,
      Fixtures.packageRoot.appendingPathComponent(".build/debug/upright").path,
      Fixtures.packageRoot.appendingPathComponent(".build/release/upright").path,
    ]
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0) } ?? candidates[0]
  }()

  private static let starting = NSLock()

  private let scratch: Scratch
  private let words: [String]
  private var process: pid_t = 0
  private var held: [CInt] = []

  /// Starts the process. `through` is a program with arguments that runs this one, such as `setpriv`.
  public init(
    _ arguments: [String], through: [String] = [], input: Input = .nothing, output: Output = .kept,
    errors: CInt? = nil, environment: [String: String] = [:]
  ) throws {
    words = through + [Self.path] + arguments
    scratch = try Scratch()
    // Tests run in parallel. No process may inherit another process's pipe ends.
    Self.starting.lock()
    defer { Self.starting.unlock() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var closing: [CInt] = []
    switch input {
    case .nothing: posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    case .pipe(let data):
      let (reading, writing) = try Self.pipe()
      posix_spawn_file_actions_adddup2(&actions, reading, 0)
      closing.append(reading)
      Thread.detachNewThread { Self.feed(data, into: writing) }
    case .silence:
      let (reading, writing) = try Self.pipe()
      posix_spawn_file_actions_adddup2(&actions, reading, 0)
      closing.append(reading)
      held.append(writing)
    }
    switch output {
    case .kept:
      posix_spawn_file_actions_addopen(
        &actions, 1, scratch.path("output"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    case .path(let path): posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY, 0)
    case .reader(let bytes):
      let (reading, writing) = try Self.pipe()
      posix_spawn_file_actions_adddup2(&actions, writing, 1)
      closing.append(writing)
      Thread.detachNewThread { Self.take(bytes, from: reading) }
    }
    if let errors {
      posix_spawn_file_actions_adddup2(&actions, errors, 2)
    } else {
      posix_spawn_file_actions_addopen(
        &actions, 2, scratch.path("errors"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    defer { closing.forEach { close($0) } }
    try spawn(&actions, environment)
  }

  private func spawn(
    _ actions: inout posix_spawn_file_actions_t, _ environment: [String: String]
  ) throws {
    // A test runner may ignore signals. The process must not inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, CShort(POSIX_SPAWN_SETSIGDEF))
    var words: [UnsafeMutablePointer<CChar>?] = self.words.map { strdup($0) } + [nil]
    let all = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var variables: [UnsafeMutablePointer<CChar>?] = all.map { strdup("\($0)=\($1)") } + [nil]
    defer { (words + variables).forEach { free($0) } }
    guard posix_spawnp(&process, self.words[0], &actions, &attributes, &words, &variables) == 0
    else {
      throw Hang(description: "\(self.words[0]) cannot be run")
    }
  }

  private static func pipe() throws -> (reading: CInt, writing: CInt) {
    var ends: [CInt] = [0, 0]
    guard Foundation.pipe(&ends) == 0 else { throw Hang(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func feed(_ data: Data, into end: CInt) {
    signal(SIGPIPE, SIG_IGN)
    var rest = data[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { write(end, $0.baseAddress, $0.count) }
      if written <= 0 { break }
      rest = rest.dropFirst(written)
    }
    close(end)
  }

  private static func take(_ bytes: Int, from end: CInt) {
    var left = bytes
    var buffer = [UInt8](repeating: 0, count: 4096)
    while left > 0 {
      let count = read(end, &buffer, min(left, buffer.count))
      if count <= 0 { break }
      left -= count
    }
    close(end)
  }

  /// Sends a signal to the process.
  public func send(_ signal: CInt) { kill(process, signal) }

  /// Whether the process's main thread blocks a signal, because another thread waits for it.
  public func blocks(_ signal: CInt) -> Bool { has(signal, in: "SigBlk") }

  /// Whether a signal is in a set of the process (proc(5)): `SigCgt` are those that it catches, `SigIgn` those that it ignores.
  public func has(_ signal: CInt, in set: String) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .ascii)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(set + ":") }
    let mask = line.flatMap {
      UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)
    }
    return (mask ?? 0) >> UInt64(signal - 1) & 1 == 1
  }

  /// The processes that this one has started and that still run.
  public var children: [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { Self.isRunning($0, parent: process) }
  }

  /// Sends a signal to the process and to those that it has started.
  public func sendToAll(_ signal: CInt) {
    send(signal)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    for child in names.compactMap(pid_t.init) where Self.isRunning(child, parent: process) {
      kill(child, signal)
    }
  }

  /// Whether a process runs, and is a child of `parent` if one is given.
  public static func isRunning(_ process: pid_t, parent: pid_t? = nil) -> Bool {
    // The name, in parentheses, may have spaces. The state and the parent follow it (`stat` in proc(5)).
    let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    guard let fields = text?.split(separator: ")").last?.split(separator: " "), fields.count > 1,
      fields[0] != "Z"
    else { return false }
    return parent.map { fields[1] == String($0) } ?? true
  }

  /// Whether the process is still running.
  public var isRunning: Bool {
    var information = siginfo_t()
    let result = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
    return result == 0 && information.si_signo == 0
  }

  /// Waits for the process to exit. Throws `Hang`, after killing it, if it is still running after `timeout`
  /// seconds.
  public func wait(timeout: Double = 60) throws -> Outcome {
    let deadline = Date(timeIntervalSinceNow: timeout)
    var status: CInt = 0
    while waitpid(process, &status, WNOHANG) != process {
      if Date() > deadline {
        kill(process, SIGKILL)
        waitpid(process, &status, 0)
        throw Hang(
          description: "\(words.joined(separator: " ")): ended after \(timeout) s")
      }
      usleep(2000)
    }
    held.forEach { close($0) }
    held = []
    let signal = Int(status & 0x7f)
    return Outcome(
      status: signal == 0 ? Int(status >> 8 & 0xff) : nil, signal: signal == 0 ? nil : signal,
      output: (try? Data(contentsOf: URL(fileURLWithPath: scratch.path("output")))) ?? Data(),
      errors: (try? String(contentsOfFile: scratch.path("errors"), encoding: .utf8)) ?? "")
  }

  /// Runs the program until it exits.
  public static func run(
    _ arguments: [String], input: Input = .nothing, output: Output = .kept,
    environment: [String: String] = [:], timeout: Double = 60
  ) throws -> Outcome {
    try CommandLineProgram(arguments, input: input, output: output, environment: environment)
      .wait(timeout: timeout)
  }
}
