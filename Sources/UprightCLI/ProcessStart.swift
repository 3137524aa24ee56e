internal import Glibc
internal import Upright
internal import UprightOrientation

/// What both programs do before they read their arguments.
enum ProcessStart {
  static func setSignals() {
    // After a crash Swift's runtime would start swift-backtrace, which it looks for in the current folder too.
    if unsafe getenv("SWIFT_BACKTRACE") == nil {
      for number in [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV, SIGQUIT] {
        signal(number, SIG_DFL)
      }
    }
    // A closed pipe or a file-size limit is reported as an error and doesn't kill the process.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Writes what the libraries log to standard error, if the program is asked for more than errors.
  static func setLog(_ arguments: [String]) {
    let isVerbose = arguments.contains("--verbose")
    // SVT-AV1 writes to standard error itself. Only its environment variable turns that off.
    if !isVerbose { unsafe setenv("SVT_LOG", "0", 0) }
    // The last error is part of this program's messages.
    UprightRuntime.installLog(upTo: isVerbose ? .info : .error) { _, line in
      if isVerbose { StandardError.write(line.printable + "\n") }
    }
  }
}
