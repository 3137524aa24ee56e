internal import CUprightWorker
internal import Foundation
internal import Upright
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
    process = try ChildProcess(
      program, arguments: ["upright-serve", SessionWorker.option], environment: Self.environment,
      descriptors: [otherControl, otherStream])
  }

  /// The environment of processes that read media.
  static var environment: [String] {
    let inherited = ProcessInfo.processInfo.environment.filter { variables.contains($0.key) }
    // A backtrace would take longer than a second, for which the session waits.
    return inherited.map { "\($0)=\($1)" } + ["SWIFT_BACKTRACE=enable=no"]
  }

  /// Prepares this process, which is one of a service that has passed on so many descriptors.
  static func begin(descriptors: CInt) {
    upright_worker_close_from(UInt32(ChildProcess.firstDescriptor + descriptors))
    // A Ctrl-C of the terminal, or the end of a unit, is for the service, which ends its sessions.
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] { signal(number, SIG_IGN) }
    UprightRuntime.keepLargeBlocksApart()
    // The last error is part of this process's messages.
    UprightRuntime.installLog(upTo: .error) { _, _ in }
  }

  /// Removes the process when it has ended, on a thread of its own: while a program reads /proc, the kernel may take
  /// more than a second for that.
  func remove() {
    Thread.detachNewThread { [process] in _ = process.wait() }
  }
}
