internal import Synchronization

/// Lets so many renders run at a time, in the order in which they come, and a few more wait.
final class RenderSlots: Sendable {
  private struct State {
    var free: Int
    var count = 0
    var waiting: [(number: Int, begin: CheckedContinuation<Bool, Never>)] = []
    var left: Set<Int> = []
  }

  private let state: Mutex<State>
  private let longest: Int

  /// - Parameters:
  ///   - slots: How many run at a time.
  ///   - longest: How many may wait.
  init(_ slots: Int, waiting longest: Int) {
    state = Mutex(State(free: slots))
    self.longest = longest
  }

  /// Whether a render would begin at once.
  var hasFreeSlot: Bool { state.withLock { $0.free > 0 } }

  /// How many wait.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Runs `body` when a slot is free.
  ///
  /// - Throws: `Problem` 429 if too many wait; `CancellationError`; what `body` throws.
  func run<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    guard try await begin() else { throw CancellationError() }
    defer { end() }
    return try await body()
  }

  /// Returns `false` if the task was cancelled.
  private func begin() async throws -> Bool {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let isFull = state.withLock { $0.free == 0 && $0.waiting.count >= longest }
    if isFull {
      throw Problem.tooMany("too many segments are being made", retryAfter: 1)
    }
    defer { state.withLock { _ = $0.left.remove(number) } }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.left.remove(number) != nil { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.left.insert(number)
          return nil
        }
        return state.waiting.remove(at: place).begin
      }
      waiter?.resume(returning: false)
    }
  }

  private func end() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard !state.waiting.isEmpty else {
        state.free += 1
        return nil
      }
      return state.waiting.removeFirst().begin
    }
    next?.resume(returning: true)
  }
}
