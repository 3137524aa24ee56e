internal import Glibc
package import UprightOrientation

/// Named pipes. Opening one normally blocks until its other end is opened, and can't be interrupted. The
/// functions here give up after ten seconds.
package enum NamedPipe {
  /// Returns whether `path` names a named pipe.
  package static func isOne(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Opens a pipe for reading and waits until there is something to read.
  ///
  /// - Returns: A non-blocking descriptor. `nil` if the pipe can't be opened.
  /// - Throws: `noInput` if there is no writer, `cancelled` if the interrupt is raised.
  static func openForReading(_ path: String, _ interrupt: Interrupt) throws(UprightError) -> CInt? {
    let pipe = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { return nil }
    var requests = [pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)]
    if interrupt.poll(&requests, until: .now + timeout) { return pipe }
    close(pipe)
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: path) }
    throw UprightError(
      .noInput, "the pipe has no writer", at: path, remedy: "start its writer first")
  }

  /// Opens a pipe for writing as soon as it has a reader.
  ///
  /// - Returns: A blocking descriptor.
  /// - Throws: `cannotCreate` if there is no reader, `cancelled` if the interrupt is raised.
  package static func openForWriting(
    _ path: String, _ interrupt: Interrupt? = nil
  ) throws(UprightError) -> CInt {
    let interrupt = interrupt ?? Interrupt()
    let deadline = ContinuousClock.now + timeout
    while true {
      let pipe = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if pipe >= 0 {
        _ = fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) & ~O_NONBLOCK)
        return pipe
      }
      if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: path) }
      guard ContinuousClock.now < deadline else { break }
      // Nothing tells that a reader has come, except an `open` that can't be interrupted.
      interrupt.wait(until: min(deadline, .now + .milliseconds(100)))
    }
    throw UprightError(
      .cannotCreate, "the pipe has no reader", at: path, remedy: "start its reader first")
  }

  /// How long the other end is waited for.
  private static let timeout = Duration.seconds(10)
}
