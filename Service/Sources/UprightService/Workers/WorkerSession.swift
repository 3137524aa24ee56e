internal import Foundation
internal import Synchronization
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// A session whose media is in a process of its own, so that what crashes libavformat or libavcodec ends no other.
///
/// This end has what peers hold: the publisher's connection, the parts of low latency, the calls of the origin.
final class WorkerSession: Session {
  typealias Reply = @Sendable (Result<(WorkerAnswer, bytes: [UInt8]), UprightError>) -> Void

  private let configuration: LiveConfiguration
  /// The publisher's stream; `nil` for an input that the worker opens.
  private let input: (any WorkerInput)?
  private let folders: SessionFolders
  private let reserve: WorkerReserve
  private let state: Mutex<State>
  private let ended = Gate()

  /// How long a worker may take to end after it was told to, in seconds. `LiveSession` abandons an output after ten.
  private static let endTimeout = 15.0

  /// How long the worker of a session without a publisher stays after a call, in seconds. Snapshots come more often.
  private static let wakefulness = 2.0

  /// - Throws: The errors of `LiveSession`.
  init(
    _ configuration: LiveConfiguration, _ folders: SessionFolders, _ reserve: WorkerReserve
  ) throws(UprightError) {
    let checked = try LiveSession(configuration)
    self.configuration = configuration
    (self.folders, self.reserve) = (folders, reserve)
    switch configuration.input {
    case .published(let feed): input = PublishedInput(feed)
    case .forwarded(let feed): input = ForwardedInput(feed)
    case .pull, .file, .rtp, .datagrams, .packets: input = nil
    }
    let policy = checked.policy.map {
      WorkerPolicy(document: $0.document, state: $0.reducer.json.compact)
    }
    let memory = WorkerMemory(configuration, ids: checked.snapshot.outputs.map(\.id))
    state = Mutex(State(snapshot: checked.snapshot, policy: policy, memory: memory))
    _ = try memory.plan(after: checked.snapshot)
  }

  // MARK: - The worker

  func prioritize(_ priority: SessionPriority) { state.withLock { $0.priority = priority } }

  func start(observe: @escaping @Sendable (LiveUpdate) -> Void) {
    let isFirst = state.withLock { state in
      defer { (state.hasStarted, state.observe) = (true, observe) }
      return !state.hasStarted
    }
    guard isFirst else { return }
    guard let input else { return wake() }
    if !configuration.waitsForPublisher { wake() }
    Thread.detachNewThread { [self] in
      // What the publisher sends waits in the feed until the worker has begun.
      input.run(
        arrives: {
          state.withLock { $0.hasPublisher = true }
          wake(isWaitedFor: true)
        }, leaves: { state.withLock { $0.hasPublisher = false } }, refused: refuse)
      let isAsleep = state.withLock { state in
        defer { state.isAwake = true }
        return !state.isAwake
      }
      guard isAsleep else { return }
      end(because: "stopped")
      ended.open()
    }
  }

  /// Starts the first worker, unless that was done.
  ///
  /// - Parameter isWaitedFor: Whether the worker has begun when this returns.
  private func wake(isWaitedFor: Bool = false) {
    let isFirst = state.withLock { state in
      state.doze.wantsNext = state.doze.isEnding
      guard !state.isAwake else { return false }
      state.isAwake = true
      return true
    }
    guard isFirst else { return }
    let first = isWaitedFor ? begin(isFirst: true) : nil
    Thread.detachNewThread { [self] in
      var next = isWaitedFor ? first : begin()
      while let worker = next {
        read(worker)
        let end = worker.process.waitForEnd()
        worker.remove()
        switch state.withLock({ $0.endDoze() }) {
        case true?: return
        case false?:
          next = begin()
          continue
        case nil: break
        }
        guard goesOn(after: "the process of the session \(end.description)") else { break }
        next = begin()
      }
      ended.open()
    }
  }

  /// Ends the worker of a session that has shown nothing, when its publisher has left and all that it sent was read.
  private func doze() {
    guard input != nil, configuration.waitsForPublisher else { return }
    state.withLock { state in
      guard state.mayDoze else { return }
      state.doze.isEnding = true
      state.worker?.process.send(SIGKILL)
    }
  }

  /// Does the same some time after a call was answered, and says again that the session waits.
  private func waitAgain() {
    doze()
    let (isAsleep, reason) = state.withLock { ($0.isAsleep, $0.snapshot.reason) }
    if isAsleep { tell(.state(.waiting, reason: reason)) }
  }

  /// Shows why the first publisher was refused.
  private func refuse(because reason: String) {
    let isAsleep = state.withLock { state in
      if !state.isAwake { state.snapshot.reason = reason }
      return !state.isAwake
    }
    if isAsleep { tell(.state(.waiting, reason: reason)) }
  }

  /// Starts a worker. Returns `nil` if that fails, and the session with it.
  ///
  /// - Parameter isFirst: Whether nothing has been passed on, so that the input has nothing to repeat.
  private func begin(isFirst: Bool = false) -> Worker? {
    do throws(UprightError) {
      var plan = try self.plan()
      plan.confinement = try Confinement(folders, configuration, state.withLock { $0.priority })
      let worker = try reserve.begin(plan)
      let (stop, skips, calls) = state.withLock { state in
        (state.worker, state.birth, state.taken) = (worker, .now, 0)
        state.stores = configuration.hlsStore.map { ServedStores(worker.control, make: $0.make) }
        defer { state.waiting = [] }
        return (state.stop, state.skipsReplay, state.waiting)
      }
      if let stop { worker.control.send(WorkerOrder.stop(comesBack: stop)) }
      for (number, call) in calls { worker.control.send(WorkerOrder.call(number, call)) }
      if isFirst {
        input?.begin(worker, skipping: skips)
      } else if let input {
        // What the worker reports is read meanwhile.
        Thread.detachNewThread { input.begin(worker, skipping: skips) }
      }
      return worker
    } catch {
      end(because: error.description)
      return nil
    }
  }

  /// Returns what the next worker begins with.
  private func plan() throws(UprightError) -> WorkerPlan {
    let lead = input?.lead ?? 0
    let (memory, snapshot, shown, skips) = state.withLock {
      ($0.memory, $0.snapshot, $0.shown, $0.skipsReplay)
    }
    guard snapshot.counters.framesOut > 0 else { return try memory.plan(after: snapshot) }
    let now = snapshot.seconds + shown.duration(to: .now) / .seconds(1)
    return try memory.plan(after: snapshot, at: max(0, skips ? now : now - lead))
  }

  /// Reads the worker's reports until its end.
  private func read(_ worker: Worker) {
    while let message = worker.control.receive() {
      if message.head.isEmpty {
        let count = Int(String(decoding: message.bytes, as: UTF8.self))
        guard let taken = count, (0...1 << 48).contains(taken) else { break }
        state.withLock { $0.taken = taken }
        continue
      }
      guard let report = try? message.value(WorkerReport.self), report.isPlausible else { break }
      receive(report, message.bytes)
    }
    let stores = state.withLock { state in
      state.worker = nil
      return state.stores
    }
    stores?.abandon()
    // It has ended, or has nothing more to say.
    worker.process.send(SIGKILL)
  }

  /// Records the end of a worker. Returns whether another one follows: not after the end of the session, and not after
  /// too many deaths at the same place of the input.
  private func goesOn(after reason: String) -> Bool {
    let isDone = state.withLock { $0.stop != nil || $0.snapshot.state.isLast }
    if isDone {
      end(because: reason)
      return false
    }
    let (deaths, replies) = state.withLock { state in
      let taken = max(state.taken, state.snapshot.counters.framesIn - state.past.framesIn)
      let place = place(taken, state.snapshot.counters.framesIn)
      state.deaths.add(at: place, taken: taken, life: state.birth.duration(to: .now))
      state.past = state.snapshot.counters
      state.past.restarts += 1
      state.snapshot.counters = state.past
      if !state.isRecovering { state.hidesWaiting = state.snapshot.state != .waiting }
      (state.snapshot.state, state.snapshot.reason) = (.recovering, reason)
      state.isRecovering = true
      let kept = Set(state.waiting.map(\.number))
      defer { state.replies = state.replies.filter { kept.contains($0.key) } }
      return (state.deaths.count, state.replies.filter { !kept.contains($0.key) })
    }
    for reply in replies.values { reply(.failure(Self.isRecovering)) }
    guard deaths < WorkerDeaths.limit else {
      end(because: "\(reason), \(deaths) times at the same place of the input")
      return false
    }
    finishRecordings(because: reason)
    tell(.state(.recovering, reason: reason))
    return true
  }

  /// Returns the place of a death in the input, as a number of packets.
  ///
  /// - Parameters:
  ///   - taken: The number of packets that the worker took.
  ///   - all: The number of frames of all workers.
  private func place(_ taken: Int, _ all: Int) -> Int {
    // Each worker reads a file from its start.
    if case .file = configuration.input { return taken }
    return input?.place(after: taken) ?? all
  }

  private func receive(_ report: WorkerReport, _ bytes: [UInt8]) {
    switch report {
    case .snapshot(let snapshot, let silence):
      if let update = state.withLock({ $0.show(snapshot) }) { tell(update) }
      if let silence { input?.note(silence: silence) }
    case .update(let update):
      let isTold = state.withLock({ $0.note(update) })
      if case .state(.waiting, _) = update { doze() }
      if isTold { tell(update) }
    case .answer(let number, let answer):
      let (reply, mayDoze) = state.withLock { state in
        (state.replies.removeValue(forKey: number), state.mayDoze)
      }
      if case .failed(let error) = answer {
        reply?(.failure(error))
      } else {
        reply?(.success((answer, bytes)))
      }
      guard mayDoze else { return }
      // What the call has changed is reported within this time.
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.wakefulness) { [weak self] in
        self?.waitAgain()
      }
    case .refused(let publisher, let reason): input?.refuse(publisher, because: reason)
    case .origin(var change):
      change.bytes = bytes
      configuration.lowLatency?.origin.apply(change)
    case .store(let store, let number, let call):
      let stores = state.withLock { $0.stores }
      stores?.perform(call, number, of: store, bytes: bytes)
    case .ended(let policy): state.withLock { $0.policy = policy }
    }
  }

  private func tell(_ update: LiveUpdate) { state.withLock { $0.observe }(update) }

  /// Ends the session, with `reason` unless it has ended by itself.
  private func end(because reason: String) {
    let (update, replies) = state.withLock { state in
      defer { (state.replies, state.waiting) = ([:], []) }
      (state.isRecovering, state.isDone) = (false, true)
      if state.snapshot.state.isLast { return (nil as LiveUpdate?, state.replies) }
      let last = state.stop == nil ? LiveState.failed : .ended
      (state.snapshot.state, state.snapshot.reason) = (last, reason)
      return (.state(last, reason: reason), state.replies)
    }
    input?.close()
    if let update {
      finishRecordings(because: reason)
      tell(update)
    }
    for reply in replies.values { reply(.failure(Self.hasEnded)) }
  }

  /// Reports the recordings that the worker can't finish any more.
  private func finishRecordings(because reason: String) {
    for var recording in snapshot.outputs.compactMap(\.recording)
    where recording.state == .recording {
      (recording.state, recording.reason) = (.failed, reason)
      tell(.recording(recording))
    }
  }

  private static let hasEnded = UprightError(
    .usage, "the session has not started or has ended", remedy: "start a session")

  private static let isRecovering = UprightError(
    .inputOutput, "the session is recovering", remedy: "try again in a second")

  // MARK: - Calls

  /// Makes a call in the worker. `reply` receives its result once, on any thread.
  private func ask(_ call: WorkerCall, reply: @escaping Reply) {
    if isAsleep { wake() }
    let (worker, number) = state.withLock { state in
      guard state.hasStarted, !state.isDone else { return (nil as Worker?, 0) }
      state.calls += 1
      state.replies[state.calls] = reply
      if state.worker == nil { state.waiting.append((state.calls, call)) }
      return (state.worker, state.calls)
    }
    if number == 0 { reply(.failure(Self.hasEnded)) }
    worker?.control.send(WorkerOrder.call(number, call))
  }

  private func ask(
    _ call: WorkerCall
  ) async throws(UprightError) -> (WorkerAnswer, bytes: [UInt8]) {
    let result = await withCheckedContinuation { continuation in
      ask(call) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  private static let wrongAnswer = UprightError(.fault, "the worker gave another answer")

  func listens(within seconds: Double) -> Bool {
    switch configuration.input {
    case .rtp: break
    case .pull(let url) where url.hasPrefix("srt:") || url.hasPrefix("udp:"): break
    case .pull, .published, .forwarded, .file, .datagrams, .packets: return true
    }
    let answered = Gate()
    let listens = Mutex(false)
    ask(.listens(seconds: seconds)) { result in
      if case .success((.listens(true), _)) = result { listens.withLock { $0 = true } }
      answered.open()
    }
    // The process has to start before.
    return answered.wait(seconds + 2) && listens.withLock { $0 }
  }

  var isAsleep: Bool { state.withLock { $0.isAsleep } }

  func post(_ events: [StreamEvent]) async throws(UprightError) -> [RotationDecision] {
    // They wait for the first frame.
    let isKept = state.withLock { state in
      guard state.isAsleep else { return false }
      state.memory.add(events, at: 0)
      return true
    }
    if isKept { return [] }
    guard case .decisions(let decisions) = try await ask(.post(events)).0 else {
      throw Self.wrongAnswer
    }
    state.withLock { $0.memory.add(events, at: $0.snapshot.seconds) }
    return decisions
  }

  func change(_ change: LiveChange) async throws(UprightError) -> AppliedChange {
    guard case .applied(let applied) = try await ask(.change(change)).0 else {
      throw Self.wrongAnswer
    }
    // What is shown while the session has no worker.
    if change.policy != nil, case .policy(let policy?)? = try? await ask(.policy).0 {
      state.withLock { $0.policy = policy }
    }
    return applied
  }

  private func status(of call: WorkerCall) async throws(UprightError) -> LiveOutputStatus {
    guard case .output(let status) = try await ask(call).0 else { throw Self.wrongAnswer }
    return status
  }

  func add(
    _ output: LiveOutput, id: String?, canvas: CanvasRule?
  ) async throws(UprightError) -> LiveOutputStatus {
    let status = try await status(of: .add(output, id: id, canvas: canvas))
    state.withLock { $0.memory.add(output, id: status.id, canvas: canvas) }
    return status
  }

  func startOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await status(of: .startOutput(id))
  }

  func stopOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await status(of: .stopOutput(id))
  }

  func removeOutput(_ id: String) async throws(UprightError) -> LiveOutputStatus {
    try await status(of: .removeOutput(id))
  }

  var snapshot: LiveSnapshot {
    var snapshot = state.withLock { $0.snapshot }
    snapshot.counters.packetsLost += input?.lostPackets ?? 0
    return snapshot
  }

  func picture() async -> RGBPicture? {
    guard !isAsleep, let (answer, bytes) = try? await ask(.picture),
      case .picture(let size?) = answer
    else {
      return nil
    }
    return RGBPicture(size: size, bytes: bytes)
  }

  func policyReport() async -> JSONValue? {
    if !isAsleep, case .policy(let policy?)? = try? await ask(.policy).0 { return policy.json }
    return state.withLock { $0.policy }?.json
  }

  // MARK: - The end

  func stop(comesBack: Bool) {
    let worker = state.withLock { state in
      state.stop = comesBack
      return state.worker
    }
    worker?.control.send(WorkerOrder.stop(comesBack: comesBack))
    input?.close()
    guard let worker else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.endTimeout) { [weak self] in
      self?.kill(worker)
    }
  }

  /// Ends a worker that doesn't end by itself.
  private func kill(_ worker: Worker) {
    // Nobody releases the process's number before the session has forgotten it.
    state.withLock { if $0.worker === worker { worker.process.send(SIGKILL) } }
  }

  func join(timeout: Double) -> Bool { ended.wait(timeout) }
}
