internal import Foundation

/// Runs a call that may block for seconds on a new thread, so that it doesn't occupy the cooperative thread
/// pool or the file I/O pool.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
