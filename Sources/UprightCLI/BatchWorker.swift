internal import Glibc
internal import Synchronization
internal import UprightMedia
internal import UprightOrientation
internal import UprightPolicy

/// What is done with one input of a batch.
protocol BatchedSession: Sendable {
  /// Runs to the end. Blocks.
  func process(
    observing progress: @escaping (SessionProgress) -> Void
  ) throws(UprightError) -> BatchResult

  /// Stops reading.
  func stop()

  /// Removes unfinished output.
  func abandon()
}

/// The other end of a `BatchChild`: works on the inputs that it is sent, until the batch has ended.
final class BatchWorker: Sendable {
  /// Makes the session of an input; `setup` is what the batch has sent first.
  typealias Factory =
    @Sendable (_ item: InputList.Item, _ setup: JSONValue) throws(UprightError) ->
    any BatchedSession

  private struct State {
    var current: (any BatchedSession)?
    var isStopped = false
  }

  private let channel: MessageChannel
  private let factory: Factory
  private let state = Mutex(State())

  init(_ descriptor: CInt, _ factory: @escaping Factory) {
    channel = MessageChannel(descriptor)
    self.factory = factory
  }

  /// Doesn't return.
  func run() -> Never {
    let setup = channel.receive() ?? .null
    while let message = channel.receive() {
      if let item = InputList.Item(payload: message) {
        // The next one comes only after the answer.
        _ = WorkThread<Void>(name: "upright-job") { [self] in
          channel.send(answer(to: item, setup))
        }
      } else {
        let current = state.withLock { state in
          state.isStopped = true
          return state.current
        }
        current?.stop()
      }
    }
    // The batch has ended, or was killed.
    state.withLock { $0.current }?.abandon()
    _exit(0)
  }

  private func answer(to item: InputList.Item, _ setup: JSONValue) -> JSONValue {
    defer { state.withLock { $0.current = nil } }
    do throws(UprightError) {
      let session = try factory(item, setup)
      let isStopped = state.withLock { state in
        state.current = session
        return state.isStopped
      }
      if isStopped { session.stop() }
      let result = try session.process { [self] in channel.send(["progress": $0.payload]) }
      return ["result": result.payload]
    } catch {
      return ["error": error.payload]
    }
  }
}
