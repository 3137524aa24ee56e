internal import Foundation

/// Runs what blocks for seconds on a thread of its own: neither the cooperative pool nor that of the
/// files may be kept by it.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
