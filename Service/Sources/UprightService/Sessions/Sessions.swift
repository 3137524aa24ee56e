internal import Foundation
internal import Logging
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// The sessions of the service, by name. Limits their number and keeps ended sessions for a while.
final class Sessions: Sendable {
  struct Limits: Sendable {
    /// The maximum number of running sessions.
    var running = 16
    /// The maximum number of sessions that wait for their first publisher.
    var waiting = 100
    /// The maximum number of ended sessions that can still be queried.
    var kept = 64
  }

  private enum Slot: Sendable {
    /// The session is being created.
    case reserved
    case hosted(HostedSession)
  }

  private struct State: Sendable {
    var slots: [String: Slot] = [:]
    /// The sessions whose first publisher hasn't come. Each costs nearly nothing.
    var waiting: Set<String> = []
    var isDraining = false
    /// Who may play each session whose segments may exist.
    var playback: [String: Playback] = [:]
    /// The sum of the counters of the sessions that were forgotten.
    var past = LiveCounters()

    /// The number of sessions that haven't ended and don't wait for their first publisher, but for that one.
    func running(but id: String? = nil) -> Int {
      slots.count { key, slot in
        if key == id || waiting.contains(key) { return false }
        if case .hosted(let session) = slot { return !session.hasEnded }
        return true
      }
    }

    /// Takes a session out of the list.
    mutating func remove(_ hosted: HostedSession) {
      slots[hosted.id] = nil
      waiting.remove(hosted.id)
      past.add(hosted.snapshot.counters)
    }
  }

  let secrets: Secrets
  let rules: AddressRules
  let limits: Limits
  /// Who may play sessions whose request doesn't say so.
  let defaultPlayback: Playback
  private let factory: SessionFactory
  private let logger: Logger
  private let state = Mutex(State())
  /// The time for which sessions with an epoch may run.
  private let lease = SessionLease()
  private let load: ProcessorLoad
  let updates: SessionUpdates

  init(
    _ configuration: ServiceConfiguration, factory: SessionFactory, rules: AddressRules,
    secrets: Secrets, updates: SessionUpdates, load: ProcessorLoad, logger: Logger
  ) {
    self.factory = factory
    self.rules = rules
    self.secrets = secrets
    self.updates = updates
    limits = Limits(running: configuration.maxSessions, waiting: configuration.maxWaiting)
    self.load = load
    defaultPlayback = configuration.playback
    self.logger = logger
    // Segments of an earlier run are served before their session is started.
    state.withLock { $0.playback = configuration.declaredPlayback }
    updates.subscribe { [weak self] id, update in
      guard let hosted = try? self?.find(id) else { return }
      switch update {
      case .live(.state(.waiting, _)) where hosted.session.isAsleep:
        self?.waitAgain(id)
        // A publisher that has come in the meantime was let in before.
        if !hosted.session.isAsleep { self?.state.withLock { _ = $0.waiting.remove(id) } }
      case .live: break
      case .recording(let recording): hosted.feed.append("recording", recording)
      case .refused(let reason): hosted.refuse(reason)
      }
    }
  }

  // MARK: - Lookup

  /// Returns the session of that name.
  ///
  /// - Throws: `Problem` 404.
  func find(_ id: String) throws(Problem) -> HostedSession {
    if case .hosted(let session)? = state.withLock({ $0.slots[id] }) { return session }
    throw .notFound("there is no session with this name")
  }

  /// All sessions, oldest first.
  var all: [HostedSession] { counted.sessions }

  /// All sessions, oldest first, and the sum of the counters of those that were forgotten before.
  var counted: (sessions: [HostedSession], past: LiveCounters) {
    let (slots, past) = state.withLock { (Array($0.slots.values), $0.past) }
    let sessions = slots.compactMap { if case .hosted(let session) = $0 { session } else { nil } }
    return (sessions.sorted { ($0.created, $0.id) < ($1.created, $1.id) }, past)
  }

  /// Returns the session's publish key, or `nil` if it must not be used as a bearer token. A key shorter than
  /// eight bytes could be guessed.
  func publishKey(of id: String) -> String? {
    guard let key = (try? find(id))?.input.publishKey, key.utf8.count >= Self.shortestKey else {
      return nil
    }
    return key
  }

  /// Returns who may play the session of that name.
  func playback(of id: String) -> Playback {
    state.withLock { $0.playback[id] } ?? defaultPlayback
  }

  /// The minimum length of a publish key that is used beyond this machine, in bytes.
  static let shortestKey = 8

  /// Whether the service is shutting down and rejects new sessions.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  // MARK: - Creation

  /// Creates and starts a session. Publishers can connect when this returns.
  func create(_ request: SessionRequest) async throws -> HostedSession {
    if request.epoch != nil, lease.hasLapsed {
      throw Problem.conflict("the lease has lapsed; renew it with PUT /v1/lease")
    }
    // Those of the configuration are what the machine is for.
    if !request.isDeclared, !request.waits { try load.admit(running: running) }
    let id = try reserve(request)
    let hosted: HostedSession
    do {
      hosted = try await factory.open(request, id: id, in: self)
    } catch {
      state.withLock { state in
        state.slots[id] = nil
        state.waiting.remove(id)
      }
      throw error
    }
    let isLate = state.withLock { state in
      state.slots[id] = .hosted(hosted)
      state.playback[id] = hosted.playback
      return state.isDraining
    }
    begin(hosted)
    if isLate { hosted.session.stop(comesBack: hosted.comesBack) }
    try await listening(hosted)
    return hosted
  }

  private var running: Int { state.withLock { $0.running() } }

  /// Lets the first publisher of a session in: from now on the session counts as one that runs.
  ///
  /// - Returns: Whether it has waited until now.
  /// - Throws: `Problem` 429 or 503 if there is no room for its work.
  func admitPublisher(of id: String) throws(Problem) -> Bool {
    guard state.withLock({ $0.waiting.contains(id) }) else { return false }
    if let hosted = try? find(id), !hosted.isDeclared { try load.admit(running: running) }
    let isFull = state.withLock { state in
      guard state.running(but: id) < limits.running else { return true }
      state.waiting.remove(id)
      return false
    }
    if isFull { throw isAtLimit }
    return true
  }

  /// Undoes `admitPublisher`, because the publisher couldn't come in.
  func waitAgain(_ id: String) {
    state.withLock { if $0.slots[id] != nil { $0.waiting.insert(id) } }
  }

  private var isAtLimit: Problem { .tooMany("\(limits.running) sessions are already running") }

  /// Waits until the session can receive its input. Removes the session if that fails.
  private func listening(_ hosted: HostedSession) async throws(Problem) {
    if await blocking({ hosted.session.listens(within: 2) }) || isDraining { return }
    let reason = hosted.snapshot.reason ?? "its port was not bound within 2 s"
    await end(hosted)
    forget(hosted)
    throw .conflict("the session can't listen: \(reason)")
  }

  private func reserve(_ request: SessionRequest) throws(Problem) -> String {
    let id = request.name ?? String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(12))
    let outcome: Result<[HostedSession], Problem> = state.withLock { state in
      if state.isDraining { return .failure(.draining()) }
      var evicted: [HostedSession] = []
      switch state.slots[id] {
      case .reserved?: return .failure(.conflict("a session named \(id) is being created"))
      case .hosted(let old)?:
        guard old.hasEnded else { return .failure(.conflict("a session named \(id) is running")) }
        evicted.append(old)
      case nil: break
      }
      if let problem = isFull(for: request, id, state) { return .failure(problem) }
      var surplus = state.slots.compactMap { key, slot in
        if case .hosted(let session) = slot, key != id, session.hasEnded { session } else { nil }
      }
      surplus.sort { $0.created < $1.created }
      evicted += surplus.prefix(max(0, surplus.count - limits.kept + 1))
      for old in evicted { state.remove(old) }
      state.slots[id] = .reserved
      if request.waits { state.waiting.insert(id) }
      return .success(evicted)
    }
    for old in try outcome.get() {
      // A new session of the same name continues in the same folder.
      if old.id != id { removeLive(old.id) }
      old.secrets.forEach(secrets.remove)
    }
    return id
  }

  /// Returns why there is no room for another session; `nil` if there is.
  private func isFull(for request: SessionRequest, _ id: String, _ state: State) -> Problem? {
    guard request.waits else { return state.running(but: id) < limits.running ? nil : isAtLimit }
    let waiting = state.waiting.count { key in
      if key == id { return false }
      if case .hosted(let session)? = state.slots[key] { return !session.hasEnded }
      return true
    }
    if waiting < limits.waiting { return nil }
    return .tooMany("\(limits.waiting) sessions are already waiting for their publishers")
  }

  private func begin(_ hosted: HostedSession) {
    let (secrets, updates, id) = (secrets, updates, hosted.id)
    hosted.session.start { [weak self, weak hosted] update in
      guard let hosted else { return }
      let update = hosted.reported(update)
      hosted.record(update, secrets)
      updates.publish(.live(update), of: id)
      if case .state(let state, let reason) = update {
        self?.logger.info("session \(id): \(state.rawValue)\(reason.map { ": \($0)" } ?? "")")
        if state == .ended || state == .failed { self?.releaseResources(hosted) }
      }
    }
    logger.info("session \(id): started")
  }

  /// Releases the port and the egress proxy of a session that has ended.
  private func releaseResources(_ hosted: HostedSession) {
    Task { [factory] in await factory.close(hosted) }
  }

  // MARK: - Changes

  /// Changes the settings of a running session. Returns when the first frame with them has been encoded.
  func change(_ hosted: HostedSession, _ change: SessionChange) async throws -> AppliedChange {
    try await running(hosted) {
      let applied = try await hosted.session.change(change.live(options(of: hosted, with: change)))
      hosted.change(options: change.options)
      return applied
    }
  }

  /// Returns the options that a session would have after a change.
  ///
  /// - Throws: `Problem` 422 if an option is wrong.
  func options(of hosted: HostedSession, with change: SessionChange) throws -> TranscodeOptions {
    try SessionOptions.read(SessionOptions.merged(hosted.options, with: change.options), rules)
  }

  /// Adds an output to a running session.
  func add(
    _ output: SessionRequest.Output, id: String?, canvas: CanvasRule?, to hosted: HostedSession
  ) async throws -> LiveOutputStatus {
    try await running(hosted) {
      let id = try hosted.outputs.reserve(output, id: id)
      do {
        var found: [String] = []
        defer { for secret in hosted.add(secrets: found) { secrets.add(secret) } }
        let target = try await factory.output(output, id: hosted.id, rules: rules, &found)
        return try await hosted.session.add(target, id: id, canvas: canvas)
      } catch {
        hosted.outputs.release(id)
        throw error
      }
    }
  }

  /// Performs a change of a session.
  ///
  /// - Throws: `Problem` 409 if the session has ended, before or meanwhile.
  func running<Value>(_ hosted: HostedSession, _ body: () async throws -> Value) async throws
    -> Value
  {
    let ended = Problem.conflict("the session has ended")
    guard !hosted.hasEnded else { throw ended }
    do { return try await body() } catch {
      throw hosted.hasEnded ? ended : error
    }
  }

  // MARK: - End

  /// Ends a session and waits until its outputs are closed, for at most `seconds`.
  ///
  /// - Parameter comesBack: Whether the session is started again with the service.
  func end(_ hosted: HostedSession, within seconds: Double = 10, comesBack: Bool = false) async {
    hosted.session.stop(comesBack: comesBack)
    let hasEnded = await blocking { hosted.session.join(timeout: seconds) }
    if !hasEnded { logger.error("session \(hosted.id): did not end within \(seconds) s") }
    hosted.feed.end()
  }

  /// Lets the sessions with an epoch run for `seconds` from now. They end after that, unless this is called again, and
  /// no new ones are created.
  ///
  /// - Returns: The running sessions with an epoch.
  func renewLease(seconds: Double) -> [HostedSession] {
    lease.renew(seconds) { [weak self] in await self?.lapse() }
    return leased
  }

  private var leased: [HostedSession] { all.filter { $0.epoch != nil && !$0.hasEnded } }

  private func lapse() async {
    logger.warning("the lease has lapsed: ending the sessions with an epoch")
    await withTaskGroup(of: Void.self) { group in
      for hosted in leased { group.addTask { await self.end(hosted, comesBack: true) } }
    }
  }

  /// Forgets an ended session and removes its playlist and segments. Its recordings stay.
  func forget(_ hosted: HostedSession) {
    let isCurrent = state.withLock { state in
      guard case .hosted(let current)? = state.slots[hosted.id], current === hosted else {
        return false
      }
      state.remove(hosted)
      return true
    }
    guard isCurrent else { return }
    removeLive(hosted.id)
    hosted.secrets.forEach(secrets.remove)
  }

  /// Removes a session's playlist and segments, and then who may play them.
  private func removeLive(_ id: String) {
    factory.folders.removeLive(id)
    state.withLock { if $0.slots[id] == nil { $0.playback[id] = nil } }
  }

  /// Rejects new sessions from now on and ends all sessions concurrently, within `seconds`.
  func drain(within seconds: Double) async {
    state.withLock { $0.isDraining = true }
    await withTaskGroup(of: Void.self) { group in
      for hosted in all where !hosted.hasEnded {
        group.addTask { await self.end(hosted, within: seconds, comesBack: hosted.comesBack) }
      }
    }
    for hosted in all { await factory.close(hosted) }
  }
}
