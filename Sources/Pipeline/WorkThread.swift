internal import Foundation

/// One blocking job on an OS thread of its own: FFmpeg's calls would starve the cooperative pool.
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
    // libavcodec's decoders are written for the usual 8 MiB, not for a secondary thread's 512 KiB.
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// Waits for the end of the job. Asked again, it answers the same.
  package func join() -> Value? {
    done.wait()
    done.signal()
    return result
  }
}
