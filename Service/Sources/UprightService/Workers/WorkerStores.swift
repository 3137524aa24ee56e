internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightOrientation

/// The stores of a worker's playlists, whose calls the service makes.
final class WorkerStores: Sendable {
  /// What the service says during a call.
  enum Event: Sendable {
    case continueText(_ earlier: String?)
    case ended(UprightError?)
  }

  /// The events of a call, for the thread that has made it.
  private final class Call: Sendable {
    let events = Mutex<[Event]>([])
    let arrived = DispatchSemaphore(value: 0)

    func next() -> Event {
      arrived.wait()
      return events.withLock { $0.removeFirst() }
    }
  }

  private struct State {
    var stores = 0
    var calls = 0
    var waiting: [Int: Call] = [:]
  }

  private let control: WorkerChannel
  private let state = Mutex(State())

  private let address: String

  /// - Parameter address: The address of the files, for messages.
  init(_ control: WorkerChannel, address: String) {
    (self.control, self.address) = (control, address)
  }

  /// Returns the store of another playlist.
  func make() -> any HLSStore {
    let number = state.withLock { state in
      state.stores += 1
      return state.stores
    }
    return Store(number: number, stores: self)
  }

  /// Passes on what the service says during a call.
  func receive(_ event: Event, for number: Int) {
    guard let call = state.withLock({ $0.waiting[number] }) else { return }
    call.events.withLock { $0.append(event) }
    call.arrived.signal()
  }

  private func perform(
    _ what: WorkerStoreCall, of store: Int, bytes: [UInt8] = [],
    continuing make: (String?) -> String = { _ in "" }
  ) throws(UprightError) {
    let call = Call()
    let number = state.withLock { state in
      state.calls += 1
      state.waiting[state.calls] = call
      return state.calls
    }
    defer { state.withLock { $0.waiting[number] = nil } }
    control.send(WorkerReport.store(store, call: number, what), bytes: bytes)
    while true {
      switch call.next() {
      case .continueText(let earlier):
        control.send(WorkerReport.store(store, call: number, .continued(make(earlier))))
      case .ended(let error?): throw error
      case .ended(nil): return
      }
    }
  }

  private struct Store: HLSStore {
    let number: Int
    let stores: WorkerStores

    var address: String { stores.address }

    func save(_ bytes: [UInt8], as name: String) throws(UprightError) {
      try stores.perform(.save(name: name), of: number, bytes: bytes)
    }

    func claim(_ name: String, _ make: (String?) -> String) throws(UprightError) {
      try stores.perform(.claim(name: name), of: number, continuing: make)
    }

    func publish(_ text: String, as name: String) throws(UprightError) {
      try stores.perform(.publish(text: text, name: name), of: number)
    }

    func remove(_ name: String) { try? stores.perform(.remove(name: name), of: number) }

    func abandon() {
      stores.control.send(WorkerReport.store(number, call: 0, .abandon))
    }
  }
}
