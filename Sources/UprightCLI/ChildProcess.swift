internal import Glibc
internal import UprightOrientation

/// A process that this one has started, and that it talks to over descriptors that the process has inherited.
final class ChildProcess: Sendable {
  /// How a process has ended.
  struct End: Sendable {
    /// The signal that ended it; 0 if it has exited.
    let signal: CInt
    /// The status with which it has exited; 0 if a signal ended it.
    let status: CInt

    /// `was ended by SIGSEGV (Segmentation fault)` or `exited with status 1`.
    var description: String {
      guard signal != 0 else { return "exited with status \(status)" }
      let name = Self.names[signal] ?? "signal \(signal)"
      return "was ended by \(name) (\(unsafe String(cString: strsignal(signal))))"
    }

    private static let names: [CInt: String] = [
      SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGILL: "SIGILL", SIGFPE: "SIGFPE",
      SIGTRAP: "SIGTRAP", SIGKILL: "SIGKILL", SIGSYS: "SIGSYS", SIGXCPU: "SIGXCPU",
    ]
  }

  /// The first descriptor that is passed on has this number in the process.
  static let firstDescriptor: CInt = 3

  let id: pid_t

  /// Starts a process without standard input.
  ///
  /// - Parameters:
  ///   - program: The path of the program; by default this one.
  ///   - arguments: Its arguments, with its name.
  ///   - environment: Its environment, as in `KEY=value`; `nil` for that of this process.
  ///   - descriptors: Become its descriptors from `firstDescriptor` on.
  ///   - isApart: Whether it gets a process group of its own, and no signal is blocked in it. Others have the mask of the thread
  ///     that starts them, which may block all signals.
  /// - Throws: `fault` if no process can be started.
  init(
    _ program: String = "/proc/self/exe", arguments: [String], environment: [String]? = nil,
    descriptors: [CInt], isApart: Bool = false
  ) throws(UprightError) {
    // Above those that the process gets, so that none is replaced before it is copied.
    let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, Self.firstDescriptor + 16) }
    defer { for copy in copies { close(copy) } }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (number, copy) in copies.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, copy, Self.firstDescriptor + CInt(number))
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    if isApart { Self.set(&attributes) }
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    var variables = unsafe (environment ?? []).map { unsafe strdup($0) } + [nil]
    defer { unsafe (words + variables).forEach { unsafe free($0) } }
    var process: pid_t = 0
    let code =
      environment == nil
      ? unsafe posix_spawn(&process, program, &actions, &attributes, &words, environ)
      : unsafe posix_spawn(&process, program, &actions, &attributes, &words, &variables)
    guard code == 0 else {
      throw UprightError(
        .fault, "no process can be started: \(unsafe String(cString: strerror(code)))",
        remedy: "raise the limits of processes and open files")
    }
    id = process
  }

  /// Sets the attributes of a process that is apart.
  private static func set(_ attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
    unsafe posix_spawnattr_setflags(&attributes, Int16(clamping: flags))
  }

  /// Sends a signal. Call it only before `wait` has returned.
  func send(_ signal: CInt) { kill(id, signal) }

  /// Waits for the end of the process, and removes it. Call it once.
  func wait() -> End {
    let end = waitForEnd()
    while waitpid(id, nil, 0) < 0, errno == EINTR {}
    return end
  }

  /// Waits for the end of the process, which `wait` removes afterwards.
  func waitForEnd() -> End {
    var end = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    let status = unsafe end._sifields._sigchld.si_status
    let hasExited = unsafe end.si_code == CInt(CLD_EXITED)
    return hasExited ? End(signal: 0, status: status) : End(signal: status, status: 0)
  }
}
