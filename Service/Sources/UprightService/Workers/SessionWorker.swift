internal import CUprightWorker
internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// The process of a `Worker`: runs the session that the service describes, and does what it is told.
package final class SessionWorker: Sendable {
  /// The argument with which the program becomes a worker.
  package static let option = "--session-worker"

  private let control: WorkerChannel
  private let session: LiveSession
  private let published = PublishedFeed(capacity: 16 << 10)
  private let forwarded = ForwardedFeed()
  private let stores: WorkerStores
  /// The number of publishers so far.
  private let publishers = Atomic(0)
  private let lastSnapshot = Mutex<[UInt8]>([])
  private let plan: WorkerPlan
  /// The number of decisions that follow and are known.
  private let known: Atomic<Int>

  /// Runs the session until its end. The end of the service ends it at once.
  package static func run() -> Never {
    let first = ChildProcess.firstDescriptor
    Worker.begin(descriptors: 2)
    let control = WorkerChannel(first, passesDescriptors: true)
    let stream = WorkerChannel(first + 1)
    guard case .begin(let plan)? = try? control.receive()?.value(WorkerOrder.self) else {
      _exit(70)
    }
    plan.confinement?.enforce()
    do {
      try SessionWorker(plan, control).run(stream)
    } catch {
      let error = error as? UprightError ?? UprightError(.fault, "\(error)")
      control.send(WorkerReport.update(.state(.failed, reason: error.description)))
      _exit(0)
    }
  }

  private init(_ plan: WorkerPlan, _ control: WorkerChannel) throws {
    (self.control, self.plan) = (control, plan)
    known = Atomic(plan.decided)
    let stores = WorkerStores(control, address: plan.storeAddress)
    self.stores = stores
    let input: LiveInput =
      switch plan.input {
      case .published: .published(published)
      case .forwarded: .forwarded(forwarded)
      case .pull(let url): .pull(url: url)
      case .file(let path): .file(path: path)
      case .rtp(let description): .rtp(description: description)
      }
    var configuration = try plan.configuration(input)
    if let seconds = plan.partSeconds {
      configuration.lowLatency = LowLatencyHLS(
        partSeconds: seconds,
        origin: HLSOrigin { control.send(WorkerReport.origin($0), bytes: $0.bytes) })
    }
    if let epoch = plan.storeEpoch { configuration.hlsStore = (epoch, { stores.make() }) }
    session = try LiveSession(configuration)
  }

  private func run(_ stream: WorkerChannel) -> Never {
    session.post(plan.events) { _ in }
    session.start { [self] update in
      if case .decision = update, known.load(ordering: .relaxed) > 0 {
        known.wrappingSubtract(1, ordering: .relaxed)
        return
      }
      reportSnapshot()
      control.send(WorkerReport.update(update))
    }
    for id in plan.stoppedOutputs { Task { [session] in try? await session.stopOutput(id) } }
    Thread.detachNewThread { [self] in read(stream) }
    Thread.detachNewThread { [self] in watch() }
    while let message = control.receive() {
      guard let order = try? message.value(WorkerOrder.self) else { _exit(70) }
      obey(order, descriptor: message.descriptor)
    }
    _exit(0)
  }

  // MARK: - Reports

  /// Reports the state while the session runs, and then its end.
  private func watch() {
    var rounds = 0
    var isWeighed = plan.confinement == nil
    while !session.join(timeout: 0.5) {
      if !isWeighed, let niceness = plan.confinement?.niceness {
        isWeighed = upright_worker_weigh(niceness) != 1
      }
      reportSnapshot()
      rounds += 1
      if rounds % 60 == 0 { UprightRuntime.returnFreeMemory() }
    }
    reportSnapshot()
    control.send(WorkerReport.ended(policy))
    _exit(0)
  }

  /// Reports the state, if it has changed.
  private func reportSnapshot() {
    lastSnapshot.withLock { last in
      var snapshot = session.snapshot
      // The service shows the last one only.
      snapshot.counters.eventToFrame = snapshot.counters.eventToFrame.suffix(1)
      let report = WorkerReport.snapshot(snapshot, silence: forwarded.silence)
      guard let head = WorkerChannel.json(report), head != last else { return }
      last = head
      _ = control.send(head: head, bytes: [], descriptor: -1)
    }
  }

  private var policy: WorkerPolicy? {
    session.policy.map { WorkerPolicy(document: $0.document, state: $0.reducer.json.compact) }
  }

  // MARK: - Orders

  private func obey(_ order: WorkerOrder, descriptor: CInt) {
    switch order {
    case .begin: _exit(70)
    case .stop(let comesBack): session.stop(comesBack: comesBack)
    case .call(let number, .post(let events)):
      session.post(events) { [self] result in
        switch result {
        case .success(let decisions): answer(number, .decisions(decisions))
        case .failure(let error): answer(number, .failed(error))
        }
      }
    case .call(let number, let call):
      Task { [self] in
        do throws(UprightError) {
          let (value, bytes) = try await perform(call)
          answer(number, value, bytes)
        } catch { answer(number, .failed(error)) }
      }
    case .forward(let description, let target):
      let publisher = publishers.wrappingAdd(1, ordering: .relaxed).newValue
      // The service has read the description already.
      try? forwarded.begin(description, target: target, socket: descriptor) { [control] in
        control.send(WorkerReport.refused(publisher: publisher, reason: nil))
      }
    case .keyframePort(let port): forwarded.requestKeyframes(at: port)
    case .forwardEnded(let reason):
      if forwarded.isPublishing {
        forwarded.end(because: reason)
      } else if let reason {
        forwarded.refuse(because: reason)
      }
    case .continueText(let call, let earlier): stores.receive(.continueText(earlier), for: call)
    case .stored(let call, let error): stores.receive(.ended(error), for: call)
    }
  }

  private func answer(_ number: Int, _ answer: WorkerAnswer, _ bytes: [UInt8] = []) {
    reportSnapshot()
    control.send(WorkerReport.answer(number, answer), bytes: bytes)
  }

  private func perform(
    _ call: WorkerCall
  ) async throws(UprightError) -> (WorkerAnswer, bytes: [UInt8]) {
    switch call {
    case .post(let events): return (.decisions(try await session.post(events)), [])
    case .change(let change): return (.applied(try await session.change(change)), [])
    case .add(let output, let id, let canvas):
      return (.output(try await session.add(output, id: id, canvas: canvas)), [])
    case .startOutput(let id): return (.output(try await session.startOutput(id)), [])
    case .stopOutput(let id): return (.output(try await session.stopOutput(id)), [])
    case .removeOutput(let id): return (.output(try await session.removeOutput(id)), [])
    case .listens(let seconds):
      return (.listens(await blocking { [session] in session.listens(within: seconds) }), [])
    case .picture:
      let picture = await session.picture()
      return (.picture(picture?.size), picture?.bytes ?? [])
    case .policy: return (.policy(policy), [])
    }
  }

  // MARK: - The publisher's stream

  /// Passes on what the publisher sends. The session takes it as it comes: what it hasn't taken waits in the socket.
  private func read(_ stream: WorkerChannel) {
    let room = DispatchSemaphore(value: 0)
    published.onRoom { [self] in
      room.signal()
      if !published.isPublishing {
        control.send(
          WorkerReport.refused(
            publisher: publishers.load(ordering: .relaxed), reason: published.rejection))
      }
    }
    var taken = 0
    while let message = stream.receive() {
      if message.head.isEmpty {
        while !published.write(message.bytes), published.isPublishing { room.wait() }
        taken += 1
        // Often enough for the service to know where this process has ended.
        if taken % 16 == 0 { control.send(bytes: Array(String(taken).utf8)) }
        continue
      }
      switch try? message.value(PublisherOrder.self) {
      case .began(let container)?:
        publishers.wrappingAdd(1, ordering: .relaxed)
        _ = published.begin(container)
      case .ended(let refusal)?:
        // The session may have refused it for the same reason already, which isn't the next one's.
        if let refusal, published.isPublishing { published.refuse(because: refusal) }
        published.end()
      case nil: _exit(70)
      }
    }
  }
}
