internal import Glibc

/// Named pipes. To open one waits for its other end, indefinitely, and hears no interrupt: here it ends
/// after ten seconds.
package enum NamedPipe {
  /// Whether `path` names one.
  package static func isOne(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Opens a pipe for its reader's end, and waits until there is something to read.
  ///
  /// - Returns: a descriptor that does not block; `nil` where it cannot be opened.
  /// - Throws: `noInput` if nobody writes into it, `cancelled` if the interrupt is raised.
  static func openForReading(_ path: String, _ interrupt: Interrupt) throws(MediaError) -> CInt? {
    let pipe = Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard pipe >= 0 else { return nil }
    var wanted = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
    do throws(MediaError) {
      try wait(
        interrupt,
        orElse: MediaError(
          .noInput, "nobody writes into the pipe", at: path, remedy: "start its writer first")
      ) { poll(&wanted, 1, step) > 0 }
    } catch {
      close(pipe)
      throw error
    }
    return pipe
  }

  /// Opens a pipe for its writer's end as soon as it has a reader.
  ///
  /// - Returns: a descriptor that blocks where the reader is slow.
  /// - Throws: `cannotCreate` if nobody reads it, `cancelled` if the interrupt is raised.
  package static func openForWriting(
    _ path: String, _ interrupt: Interrupt? = nil
  ) throws(MediaError) -> CInt {
    var pipe: CInt = -1
    try wait(
      interrupt,
      orElse: MediaError(
        .cannotCreate, "nobody reads the pipe", at: path, remedy: "start its reader first")
    ) {
      pipe = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      if pipe < 0 { usleep(UInt32(step) * 1000) }
      return pipe >= 0
    }
    _ = fcntl(pipe, F_SETFL, fcntl(pipe, F_GETFL) & ~O_NONBLOCK)
    return pipe
  }

  /// Milliseconds.
  private static let step: CInt = 100

  /// Tries for ten seconds; `isReady` takes up to a step.
  private static func wait(
    _ interrupt: Interrupt?, orElse error: MediaError, until isReady: () -> Bool
  ) throws(MediaError) {
    for _ in 0..<100 {
      if isReady() { return }
      if interrupt?.isRaised ?? false {
        throw MediaError(.cancelled, "stopped", at: error.location)
      }
    }
    throw error
  }
}
