internal import Upright
internal import UprightOrientation
internal import UprightPolicy

extension WorkerSession {
  /// What this end knows of the session.
  struct State {
    var worker: Worker?
    var snapshot: LiveSnapshot
    var policy: WorkerPolicy?
    var observe: @Sendable (LiveUpdate) -> Void = { _ in }
    var hasStarted = false
    /// Whether there is a worker, or was one. A session that waits for its first publisher has none.
    var isAwake = false
    var hasPublisher = false
    /// Whether the worker ends because the session waits again, and whether another one is wanted since then.
    var doze: (isEnding: Bool, wantsNext: Bool) = (false, false)
    var priority = SessionPriority.normal
    /// Whether the stream continues in a later run, once the session was told to stop.
    var stop: Bool?
    var isDone = false
    /// What the next worker gets, and what the earlier ones have counted.
    var memory: WorkerMemory
    var past = LiveCounters()
    var deaths = WorkerDeaths()
    /// When `snapshot` came.
    var shown = ContinuousClock.now
    /// The start of the worker, and the number of packets that it has taken.
    var birth = ContinuousClock.now
    var taken = 0
    var isRecovering = false
    /// Whether a session that recovers doesn't show that its worker waits for the input.
    var hidesWaiting = false
    var replies: [Int: Reply] = [:]
    var calls = 0
    /// The calls for the next worker.
    var waiting: [(number: Int, call: WorkerCall)] = []
    var stores: ServedStores?

    /// Whether the session waits for its first publisher, without a worker.
    var isAsleep: Bool {
      hasStarted && !isDone && (!isAwake || doze.isEnding && !doze.wantsNext)
    }

    /// Whether the worker has nothing to do until another publisher comes: nothing was shown yet, and no call waits.
    var mayDoze: Bool {
      isAwake && !isDone && stop == nil && worker != nil && !hasPublisher && replies.isEmpty
        && snapshot.state == .waiting && snapshot.counters.framesIn == 0
    }

    /// The worker has ended. Returns what follows if the session waits again: `true` if it has no worker from now on,
    /// `false` if it needs another one at once. `nil` if the session doesn't wait again.
    mutating func endDoze() -> Bool? {
      guard doze.isEnding else { return nil }
      let sleeps = !doze.wantsNext
      doze = (false, false)
      if sleeps { isAwake = false }
      return sleeps
    }

    /// Whether the next worker gets nothing again, because the last ones have died of it.
    var skipsReplay: Bool { deaths.count == WorkerDeaths.limit - 1 }

    /// Shows a worker's snapshot, with the counts of those before it.
    ///
    /// - Returns: The update that no worker sends: that a session that has recovered waits.
    mutating func show(_ new: LiveSnapshot) -> LiveUpdate? {
      let (state, reason) = (snapshot.state, snapshot.reason)
      (snapshot, shown) = (new, .now)
      snapshot.counters.add(past)
      if hides(new.state, new.reason) {
        (snapshot.state, snapshot.reason) = (state, reason)
        return nil
      }
      defer { isRecovering = false }
      return isRecovering && new.state == .waiting ? .state(.waiting, reason: new.reason) : nil
    }

    /// Records an update. Returns whether the session's observer gets it.
    mutating func note(_ update: LiveUpdate) -> Bool {
      switch update {
      case .state(let new, let reason):
        if hides(new, reason) { return false }
        isRecovering = false
        (snapshot.state, snapshot.reason) = (new, reason)
      case .change(let change, _): memory.change(change)
      case .outputRemoved(let id): memory.removeOutput(id)
      case .decision, .format, .output, .recording: break
      }
      return true
    }

    /// Whether the session still shows that it recovers. A worker begins by waiting for the input.
    private func hides(_ new: LiveState, _ reason: String?) -> Bool {
      isRecovering && hidesWaiting && new == .waiting && reason == nil
    }
  }
}

extension WorkerPolicy {
  /// The policy and its state, as `/policy` answers.
  var json: JSONValue? {
    guard let state = try? JSONValue(parsing: state.utf8) else { return nil }
    return ["policy": document.json, "state": state]
  }
}

extension LiveState {
  /// Whether the session doesn't go on.
  var isLast: Bool { self == .ended || self == .failed }
}
