internal import Foundation
internal import Synchronization
internal import UprightOrientation

/// Starts the processes of sessions. One is started in advance, so that a session whose process has died doesn't wait for
/// the program to be loaded, which takes longest on a busy machine.
///
/// That one waits for its first order and has nothing of a session yet.
final class WorkerReserve: Sendable {
  private let program: String
  let spare = Mutex<Worker?>(nil)

  /// The session that took the spare one comes first.
  private static let delay = 1.0

  /// - Parameter program: The path of `upright-serve`.
  init(_ program: String) { self.program = program }

  deinit { spare.withLock { $0 }?.remove() }

  /// Returns a worker that has the plan.
  ///
  /// - Throws: `fault` if no process can be started.
  func begin(_ plan: WorkerPlan) throws(UprightError) -> Worker {
    let spare = spare.withLock { $0.take() }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.delay) { [weak self] in
      self?.fill()
    }
    if let spare {
      if spare.control.send(WorkerOrder.begin(plan)) { return spare }
      // It has ended.
      spare.remove()
    }
    let worker = try Worker(program)
    worker.control.send(WorkerOrder.begin(plan))
    return worker
  }

  private func fill() {
    spare.withLock { spare in
      if spare == nil { spare = try? Worker(program) }
    }
  }
}
