internal import Glibc
package import UprightMediaIO

/// Runs one blocking job on a dedicated OS thread, because FFmpeg's blocking calls would starve Swift's
/// cooperative thread pool.
///
/// What is logged about the job goes where it went on the thread that created it.
///
/// What the job captures is released before `join` returns. Foundation's threads release it later, when the host may
/// already have ended.
package final class WorkThread<Value: Sendable>: Sendable {
  private let job: Job<Value>

  package init(
    name: String, log: LogScope? = .current, _ body: @escaping @Sendable () -> Value
  ) {
    job = Job(name, log, body)
    start(job)
  }

  /// Runs `body` on a dedicated thread and returns its result.
  package static func run(
    name: String, log: LogScope? = .current, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      _ = WorkThread<Void>(name: name, log: log) { continuation.resume(returning: body()) }
    }
  }

  /// Waits for the end of the job and returns its result. Later calls return the same result.
  package func join() -> Value? { job.wait() }
}

/// What a thread is started with: its function in C can't be generic.
private class AnyJob: @unchecked Sendable {
  private let name: String

  init(_ name: String) { self.name = name }

  /// Called on the thread.
  func run() {
    // For debuggers and `top -H`. The kernel keeps 15 bytes.
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = unsafe write(file, name, name.utf8.count)
    close(file)
  }
}

private final class Job<Value: Sendable>: AnyJob, @unchecked Sendable {
  // Unchecked: the thread alone uses these until it opens the latch, and nobody changes them after it.
  private var body: (@Sendable () -> Value)?
  private var log: LogScope?
  private var result: Value?
  private let done = Latch()

  init(_ name: String, _ log: LogScope?, _ body: @escaping @Sendable () -> Value) {
    self.body = body
    self.log = log
    super.init(name)
  }

  override func run() {
    super.run()
    LogScope.run(in: log) {
      result = body?()
      body = nil
    }
    log = nil
    done.open()
  }

  func wait() -> Value? {
    done.wait()
    return result
  }
}

private func start(_ job: AnyJob) {
  unsafe withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { memory in
    guard let attributes = memory.baseAddress else { return }  // Never: there is room for one.
    unsafe pthread_attr_init(attributes)
    defer { unsafe pthread_attr_destroy(attributes) }
    unsafe pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    // libavcodec's decoders expect the usual stack of 8 MiB, whatever the host's limit is.
    unsafe pthread_attr_setstacksize(attributes, 8 << 20)
    let context = unsafe Unmanaged.passRetained(job).toOpaque()
    var thread = pthread_t()
    // Fails while the process has as many threads as it may: others end, which may be the host's.
    while unsafe pthread_create(&thread, attributes, begin, context) != 0 {
      Latch().wait(until: .now + .milliseconds(10))
    }
  }
}

private func begin(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<AnyJob>.fromOpaque(context).takeRetainedValue().run()
  }
  return nil
}
