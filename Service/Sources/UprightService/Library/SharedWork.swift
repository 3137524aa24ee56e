internal import Synchronization

/// Work that several requests may wait for: it is done once for each key, and cancelled when none of them waits any more.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry: Sendable {
    let number: Int
    let task: Task<Value, any Error>
    var waiting: Int
  }

  private struct State: Sendable {
    var entries: [Key: Entry] = [:]
    var count = 0
  }

  private let state = Mutex(State())

  /// How many wait for the work for a key.
  func waiting(for key: Key) -> Int { state.withLock { $0.entries[key]?.waiting ?? 0 } }

  /// Returns the result of the work for a key, which begins now unless it has begun already.
  func value(
    _ key: Key, _ make: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let entry = state.withLock { state in
      if var entry = state.entries[key] {
        entry.waiting += 1
        state.entries[key] = entry
        return entry
      }
      state.count += 1
      let number = state.count
      let task = Task {
        defer { remove(key, number) }
        return try await make()
      }
      let entry = Entry(number: number, task: task, waiting: 1)
      state.entries[key] = entry
      return entry
    }
    return try await withTaskCancellationHandler {
      try await entry.task.value
    } onCancel: {
      leave(key, entry.number)
    }
  }

  private func remove(_ key: Key, _ number: Int) {
    state.withLock { if $0.entries[key]?.number == number { $0.entries[key] = nil } }
  }

  private func leave(_ key: Key, _ number: Int) {
    let unwanted = state.withLock { state -> Task<Value, any Error>? in
      guard var entry = state.entries[key], entry.number == number else { return nil }
      entry.waiting -= 1
      // A request that comes now begins anew.
      state.entries[key] = entry.waiting > 0 ? entry : nil
      return entry.waiting > 0 ? nil : entry.task
    }
    unwanted?.cancel()
  }
}
