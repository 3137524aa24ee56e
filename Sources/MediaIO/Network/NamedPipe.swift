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
    var wanted = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
    do throws(UprightError) {
      try wait(
        interrupt,
        orElse: UprightError(
          .noInput, "the pipe has no writer", at: path, remedy: "start its writer first")
      ) { poll(&wanted, 1, step) > 0 }
    } catch {
      close(pipe)
      throw error
    }
    return pipe
  }

  /// Opens a pipe for writing as soon as it has a reader.
  ///
  /// - Returns: A blocking descriptor.
  /// - Throws: `cannotCreate` if there is no reader, `cancelled` if the interrupt is raised.
  package static func openForWriting(
    _ path: String, _ interrupt: Interrupt? = nil
  ) throws(UprightError) -> CInt {
    var pipe: CInt = -1
    try wait(
      interrupt,
      orElse: UprightError(
        .cannotCreate, "the pipe has no reader", at: path, remedy: "start its reader first")
    ) {
      pipe = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if pipe < 0 { usleep(UInt32(step) * 1000) }
      return pipe >= 0
    }
    _ = fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) & ~O_NONBLOCK)
    return pipe
  }

  /// The length of one attempt, in milliseconds.
  private static let step: CInt = 100

  /// Tries for ten seconds. `isReady` takes at most one step.
  private static func wait(
    _ interrupt: Interrupt?, orElse error: UprightError, until isReady: () -> Bool
  ) throws(UprightError) {
    for _ in 0..<100 {
      if isReady() { return }
      if interrupt?.isRaised ?? false {
        throw UprightError(.cancelled, "stopped", at: error.location)
      }
    }
    throw error
  }
}
