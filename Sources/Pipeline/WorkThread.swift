internal import Foundation

/// Runs one blocking job on a dedicated OS thread, because FFmpeg's blocking calls would starve Swift's
/// cooperative thread pool.
package final class WorkThread<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `result` is written before the semaphore is signalled and read after it.
  private let done = DispatchSemaphore(value: 0)
  private var result: Value?

  package init(name: String, _ body: @escaping @Sendable () -> Value) {
    let thread = Thread { [self] in
      result = body()
      done.signal()
    }
    thread.name = name
    // libavcodec's decoders expect the usual stack of 8 MiB, not a secondary thread's 512 KiB.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Runs `body` on a dedicated thread and returns its result.
  package static func run(
    name: String, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { continuation in
      _ = WorkThread<Void>(name: name) { continuation.resume(returning: body()) }
    }
  }

  /// Waits for the end of the job and returns its result. Later calls return the same result.
  package func join() -> Value? {
    done.wait()
    done.signal()
    return result
  }
}
