internal import Dispatch
internal import Synchronization

/// Asynchronous calls that a thread waits for, until another thread abandons them all.
final class AbandonableCalls: Sendable {
  private struct State {
    /// The task of each call, and what its thread waits for.
    var calls: [Int: (task: Task<Void, Never>, end: DispatchSemaphore)] = [:]
    var count = 0
    var isAbandoned = false
  }

  private let state = Mutex(State())

  /// Ends the present calls and pauses, and all later ones at once.
  func abandon() {
    let abandoned = state.withLock { state in
      state.isAbandoned = true
      return Array(state.calls.values)
    }
    for call in abandoned {
      call.task.cancel()
      call.end.signal()
    }
  }

  /// Waits for the result of `body`. Returns `nil` if the calls are abandoned.
  func result<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
  ) -> Result<Value, Failure>? {
    let found = Found<Value, Failure>()
    let end = DispatchSemaphore(value: 0)
    let id: Int? = state.withLock { state in
      guard !state.isAbandoned else { return nil }
      state.count += 1
      let task = Task.detached {
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await body()) } catch {
          result = .failure(error)
        }
        found.result.withLock { $0 = result }
        end.signal()
      }
      state.calls[state.count] = (task, end)
      return state.count
    }
    guard let id else { return nil }
    end.wait()
    let isAbandoned = state.withLock { state in
      state.calls[id] = nil
      return state.isAbandoned
    }
    return isAbandoned ? nil : found.result.withLock { $0 }
  }

  /// Waits for some seconds. Returns `false` if the calls are abandoned.
  func pause(_ seconds: Double) -> Bool {
    result { try? await Task.sleep(for: .seconds(seconds)) } != nil
  }

  private final class Found<Value: Sendable, Failure: Error>: Sendable {
    let result = Mutex<Result<Value, Failure>?>(nil)
  }
}
