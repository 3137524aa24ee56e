internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightOrientation

/// The stores of a worker's playlists in the service: makes the calls of the other end, `WorkerStores`.
final class ServedStores: Sendable {
  private struct State {
    var stores: [Int: any HLSStore] = [:]
    /// The texts that the worker has sent, by the number of the call that waits for one.
    var texts: [Int: (text: String, arrived: DispatchSemaphore)] = [:]
    var isAbandoned = false
  }

  private let make: @Sendable () -> any HLSStore
  private let control: WorkerChannel
  private let state = Mutex(State())

  init(_ control: WorkerChannel, make: @escaping @Sendable () -> any HLSStore) {
    (self.control, self.make) = (control, make)
  }

  private func store(_ number: Int) -> any HLSStore {
    state.withLock { state in
      if let store = state.stores[number] { return store }
      let store = make()
      state.stores[number] = store
      return store
    }
  }

  /// Makes a call, on a thread of its own. The worker makes one at a time of each store.
  func perform(_ call: WorkerStoreCall, _ number: Int, of store: Int, bytes: [UInt8]) {
    switch call {
    case .abandon: self.store(store).abandon()
    case .continued(let text): receive(text, for: number)
    case .save, .claim, .publish, .remove:
      let target = self.store(store)
      Thread.detachNewThread { [self] in
        var failure: UprightError?
        do throws(UprightError) { try make(call, number, of: target, bytes) } catch {
          failure = error
        }
        control.send(WorkerOrder.stored(call: number, failure))
      }
    }
  }

  private func make(
    _ call: WorkerStoreCall, _ number: Int, of store: any HLSStore, _ bytes: [UInt8]
  ) throws(UprightError) {
    switch call {
    case .save(let name): try store.save(bytes, as: name)
    case .publish(let text, let name): try store.publish(text, as: name)
    case .remove(let name): store.remove(name)
    case .claim(let name): try store.claim(name) { text(for: number, after: $0) }
    case .continued, .abandon: break
    }
  }

  /// Returns the text that follows `earlier`, which the worker knows.
  private func text(for call: Int, after earlier: String?) -> String {
    let arrived = DispatchSemaphore(value: 0)
    let isAbandoned = state.withLock { state in
      state.texts[call] = ("", arrived)
      return state.isAbandoned
    }
    if isAbandoned { return earlier ?? "" }
    control.send(WorkerOrder.continueText(call: call, earlier: earlier))
    arrived.wait()
    return state.withLock { $0.texts.removeValue(forKey: call)?.text } ?? ""
  }

  private func receive(_ text: String, for call: Int) {
    let arrived = state.withLock { state in
      state.texts[call]?.text = text
      return state.texts[call]?.arrived
    }
    arrived?.signal()
  }

  /// Ends the calls that wait, when the worker has ended.
  func abandon() {
    let (stores, waiting) = state.withLock { state in
      state.isAbandoned = true
      return (Array(state.stores.values), state.texts.values.map(\.arrived))
    }
    for store in stores { store.abandon() }
    for arrived in waiting { arrived.signal() }
  }
}
