internal import Foundation
internal import Synchronization
internal import UprightOrientation

/// A process that reads files of the library. It waits for its first order, so that it can be started ahead. It ends with
/// the last reference to this, and a file that crashes it costs the calls that it has.
final class LibraryProcess: Sendable {
  typealias Answer = (answer: LibraryAnswer, bytes: [UInt8])

  /// The calls that wait for their answer.
  private final class Calls: Sendable {
    private struct State {
      var waiting: [Int: CheckedContinuation<Answer, any Error>] = [:]
      /// The answer to the first order, if it came before anyone asked.
      var early: Answer?
      var count = 0
      var end: UprightError?
    }

    private let state = Mutex(State())

    var hasEnded: Bool { state.withLock { $0.end != nil } }

    func number() -> Int {
      state.withLock { state in
        state.count += 1
        return state.count
      }
    }

    func add(_ number: Int, _ call: CheckedContinuation<Answer, any Error>) {
      let result = state.withLock { state -> Result<Answer, any Error>? in
        if number == 0, let early = state.early { return .success(early) }
        if let end = state.end { return .failure(end) }
        state.waiting[number] = call
        return nil
      }
      if let result { call.resume(with: result) }
    }

    func finish(_ number: Int, _ answer: Answer) {
      let call = state.withLock { state in
        let call = state.waiting.removeValue(forKey: number)
        if call == nil, number == 0 { state.early = answer }
        return call
      }
      call?.resume(returning: answer)
    }

    func fail(_ error: UprightError) {
      let calls = state.withLock { state in
        state.end = error
        defer { state.waiting = [:] }
        return state.waiting.values
      }
      for call in calls { call.resume(throwing: error) }
    }
  }

  private let control: WorkerChannel
  private let calls = Calls()

  /// Starts a process, which waits for its first order.
  ///
  /// - Parameter program: The path of `upright-serve`.
  /// - Throws: `fault` if no process can be started.
  init(_ program: String) throws(UprightError) {
    let (control, other) = try WorkerChannel.pair()
    defer { close(other) }
    self.control = control
    let process = try ChildProcess(
      program, arguments: ["upright-serve", LibraryWorker.option], environment: Worker.environment,
      descriptors: [other])
    Thread.detachNewThread { [calls] in
      while let message = control.receive(),
        let report = try? message.value(LibraryReport.self)
      {
        calls.finish(report.call, (report.answer, message.bytes))
      }
      calls.fail(
        UprightError(.fault, "the process that read the file \(process.wait().description)"))
    }
  }

  deinit { control.send(LibraryOrder.end) }

  /// Whether the process has crashed.
  var hasEnded: Bool { calls.hasEnded }

  /// Gives the process its first order.
  ///
  /// - Parameter file: The file that comes along.
  func begin(_ order: LibraryOrder, file: OpenFile? = nil) {
    control.send(order, descriptor: file?.descriptor ?? -1)
  }

  /// Returns the answer to the first order.
  ///
  /// - Throws: `UprightError`.
  func first() async throws -> Answer {
    try Self.checked(await withCheckedThrowingContinuation { calls.add(0, $0) })
  }

  /// Returns the answer to a call. If the task is cancelled, the process stops with it within a GOP.
  ///
  /// - Parameter descriptor: A file that comes along, which stays open until this returns; -1 for none.
  /// - Throws: `UprightError`.
  func answer(to call: LibraryCall, descriptor: CInt = -1) async throws -> Answer {
    let number = calls.number()
    return try await withTaskCancellationHandler {
      try Self.checked(
        await withCheckedThrowingContinuation { continuation in
          calls.add(number, continuation)
          control.send(LibraryOrder.call(number, call), descriptor: descriptor)
        })
    } onCancel: {
      control.send(LibraryOrder.cancel(number))
    }
  }

  private static func checked(_ answer: Answer) throws -> Answer {
    if case .failed(let error) = answer.answer { throw error }
    return answer
  }
}
