internal import Foundation
internal import UprightOrientation

/// A process that runs the media of one session.
final class Worker: Sendable {
  let process: ChildProcess
  /// Orders down, reports up.
  let control: WorkerChannel
  /// The publisher's stream, which waits while the session is behind.
  let stream: WorkerChannel

  /// The variables that the process inherits. What the service knows besides is none of its business.
  private static let variables = [
    "LD_LIBRARY_PATH", "LD_PRELOAD", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "SVT_LOG",
    "ASAN_OPTIONS",
    "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
  ]

  /// - Parameter program: The path of `upright-serve`.
  /// - Throws: `fault` if no process can be started.
  init(_ program: String) throws(UprightError) {
    let (control, otherControl) = try WorkerChannel.pair()
    defer { close(otherControl) }
    let (stream, otherStream) = try WorkerChannel.pair()
    defer { close(otherStream) }
    (self.control, self.stream) = (control, stream)
    let inherited = ProcessInfo.processInfo.environment.filter { Self.variables.contains($0.key) }
    // A backtrace would take longer than a second, for which the session waits.
    let environment = inherited.map { "\($0)=\($1)" } + ["SWIFT_BACKTRACE=enable=no"]
    process = try ChildProcess(
      program, arguments: ["upright-serve", SessionWorker.option], environment: environment,
      descriptors: [otherControl, otherStream])
  }

  /// Removes the process when it has ended, on a thread of its own: while a program reads /proc, the kernel may take
  /// more than a second for that.
  func remove() {
    Thread.detachNewThread { [process] in _ = process.wait() }
  }
}
