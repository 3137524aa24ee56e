internal import Foundation
internal import Synchronization

/// Asynchronous calls that a thread waits for, until another thread abandons them all.
final class AbandonableCalls: @unchecked Sendable {
  // Unchecked: the properties below are only accessed while `condition` is locked.
  private let condition = NSCondition()
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var count = 0
  private var isAbandoned = false

  /// Ends the present calls and pauses, and all later ones at once.
  func abandon() {
    condition.lock()
    isAbandoned = true
    let cancelled = Array(tasks.values)
    condition.broadcast()
    condition.unlock()
    for task in cancelled { task.cancel() }
  }

  /// Waits for the result of `body`. Returns `nil` if the calls are abandoned.
  func result<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Result<Value, Failure>? {
    let found = Found<Value, Failure>()
    condition.lock()
    defer { condition.unlock() }
    guard !isAbandoned else { return nil }
    count += 1
    let id = count
    tasks[id] = Task.detached { [self] in
      let result: Result<Value, Failure>
      do throws(Failure) { result = .success(try await body()) } catch { result = .failure(error) }
      found.result.withLock { $0 = result }
      wake(id)
    }
    while tasks[id] != nil, !isAbandoned { condition.wait() }
    return isAbandoned ? nil : found.result.withLock { $0 }
  }

  private func wake(_ id: Int) {
    condition.lock()
    tasks[id] = nil
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for some seconds. Returns `false` if the calls are abandoned.
  func pause(_ seconds: Double) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    condition.lock()
    defer { condition.unlock() }
    while !isAbandoned, condition.wait(until: end) {}
    return !isAbandoned
  }

  private final class Found<Value: Sendable, Failure: Error>: Sendable {
    let result = Mutex<Result<Value, Failure>?>(nil)
  }
}
