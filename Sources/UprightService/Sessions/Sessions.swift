internal import Foundation
internal import Logging
internal import RotationPolicy
internal import Synchronization
internal import UprightLive
internal import UprightMediaIO

/// All sessions by name: how many there may be, and what becomes of those that are over.
final class Sessions: Sendable {
  struct Limits: Sendable {
    /// Sessions that run at a time.
    var running = 16
    /// Sessions that are over and can still be asked for.
    var kept = 64
  }

  private enum Place: Sendable {
    /// Being made.
    case reserved
    case hosted(HostedSession)
  }

  private struct State: Sendable {
    var places: [String: Place] = [:]
    var isDraining = false
    var onForget: @Sendable (HostedSession) -> Void = { _ in }
  }

  let secrets: Secrets
  let rules: AddressRules
  let limits: Limits
  private let opening: SessionOpening
  private let logger: Logger
  private let state = Mutex(State())
  /// Told whatever any session tells, with the session's name: for webhooks.
  private let observer: @Sendable (String, LiveUpdate) -> Void

  init(
    opening: SessionOpening, rules: AddressRules, secrets: Secrets, limits: Limits,
    logger: Logger, observer: @escaping @Sendable (String, LiveUpdate) -> Void = { _, _ in }
  ) {
    self.opening = opening
    self.rules = rules
    self.secrets = secrets
    self.limits = limits
    self.logger = logger
    self.observer = observer
  }

  // MARK: - Finding

  /// The session of that name.
  ///
  /// - Throws: `Problem` 404.
  func find(_ id: String) throws(Problem) -> HostedSession {
    if case .hosted(let session)? = state.withLock({ $0.places[id] }) { return session }
    throw .notFound("there is no session of that name")
  }

  /// All of them, the oldest first.
  var all: [HostedSession] {
    let places = state.withLock { Array($0.places.values) }
    return places.compactMap { if case .hosted(let session) = $0 { session } else { nil } }
      .sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// The session's publish key if it may be used as a bearer token: one that is shorter than eight bytes
  /// could be guessed.
  func publishKey(of id: String) -> String? {
    guard let key = (try? find(id))?.publishKey, key.utf8.count >= Self.shortestKey else {
      return nil
    }
    return key
  }

  /// Bytes of a publish key that is worth something beyond this machine.
  static let shortestKey = 8

  /// Whether no new session is taken.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  // MARK: - Making

  /// Makes a session and begins it; whoever publishes to it may come when this returns.
  func create(_ request: SessionRequest, isDeclared: Bool = false) async throws -> HostedSession {
    let id = try reserve(request.name)
    do {
      let hosted = try await opening.open(request, id: id, isDeclared: isDeclared, in: self)
      let isLate = state.withLock { state in
        state.places[id] = .hosted(hosted)
        return state.isDraining
      }
      begin(hosted)
      if isLate { hosted.session.stop(comesBack: isDeclared) }
      try await listening(hosted)
      return hosted
    } catch {
      state.withLock { _ = $0.places.removeValue(forKey: id) }
      throw error
    }
  }

  /// Waits until whoever sends may come; a session to which nobody can come is not kept.
  private func listening(_ hosted: HostedSession) async throws(Problem) {
    if await blocking({ hosted.session.listens(within: 2) }) || isDraining { return }
    let reason = hosted.snapshot.reason ?? "its port was not bound within 2 s"
    await end(hosted)
    forget(hosted)
    throw .conflict("the session cannot listen: \(reason)")
  }

  private func reserve(_ name: String?) throws(Problem) -> String {
    let id = name ?? String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(12))
    let outcome: Result<[HostedSession], Problem> = state.withLock { state in
      if state.isDraining { return .failure(.draining()) }
      var evicted: [HostedSession] = []
      switch state.places[id] {
      case .reserved?: return .failure(.conflict("a session \(id) is being made"))
      case .hosted(let old)?:
        guard old.isOver else { return .failure(.conflict("there is a session \(id)")) }
        evicted.append(old)
      case nil: break
      }
      var over: [HostedSession] = []
      var running = 0
      for case let (key, place) in state.places where key != id {
        if case .hosted(let session) = place, session.isOver {
          over.append(session)
        } else {
          running += 1
        }
      }
      guard running < limits.running else {
        return .failure(.tooMany("\(limits.running) sessions run already"))
      }
      over.sort { $0.created < $1.created }
      for old in over.prefix(max(0, over.count - limits.kept + 1)) {
        evicted.append(old)
        state.places[old.id] = nil
      }
      state.places[id] = .reserved
      return .success(evicted)
    }
    for old in try outcome.get() {
      // One of the same name goes on in the same folder.
      if old.id != id { opening.folders.removeLive(old.id) }
      forgotten(old)
    }
    return id
  }

  private func begin(_ hosted: HostedSession) {
    let (feed, secrets, observer, id) = (hosted.feed, secrets, observer, hosted.id)
    hosted.session.start { [weak self, weak hosted] update in
      guard let hosted else { return }
      let update = hosted.told(update)
      HostedSession.record(update, in: feed, secrets: secrets)
      observer(id, update)
      if case .state(let state, let reason) = update {
        self?.logger.info("session \(id): \(state.rawValue)\(reason.map { ": \($0)" } ?? "")")
        if state == .ended || state == .failed { self?.over(hosted) }
      }
    }
    logger.info("session \(id): begun")
  }

  /// The session is over: its port, its way out are given back.
  private func over(_ hosted: HostedSession) {
    Task { [opening] in await opening.close(hosted) }
  }

  /// What to call with a session that is forgotten.
  func onForget(_ body: @escaping @Sendable (HostedSession) -> Void) {
    state.withLock { $0.onForget = body }
  }

  /// The input of a session led where it must not.
  func refused(_ id: String, _ reason: String) { try? find(id).refuse(reason) }

  private func forgotten(_ hosted: HostedSession) {
    state.withLock { $0.onForget }(hosted)
    hosted.secrets.forEach(secrets.remove)
  }

  // MARK: - Ending

  /// Ends a session and waits until its outputs are closed, `seconds` at most.
  ///
  /// - Parameter comesBack: whether it is begun again when the service is.
  func end(_ hosted: HostedSession, within seconds: Double = 10, comesBack: Bool = false) async {
    hosted.session.stop(comesBack: comesBack)
    let isOver = await blocking { hosted.session.join(timeout: seconds) }
    if !isOver { logger.error("session \(hosted.id): did not end in \(seconds) s") }
    hosted.feed.end()
  }

  /// Forgets a session that is over, and removes its playlist and segments; its files stay.
  func forget(_ hosted: HostedSession) {
    let isIts = state.withLock { state in
      guard case .hosted(let current)? = state.places[hosted.id], current === hosted else {
        return false
      }
      state.places[hosted.id] = nil
      return true
    }
    guard isIts else { return }
    opening.folders.removeLive(hosted.id)
    forgotten(hosted)
  }

  /// Takes no new sessions and ends all, side by side, within `seconds`.
  func drain(within seconds: Double) async {
    state.withLock { $0.isDraining = true }
    await withTaskGroup(of: Void.self) { group in
      for hosted in all where !hosted.isOver {
        group.addTask { await self.end(hosted, within: seconds, comesBack: hosted.isDeclared) }
      }
    }
    for hosted in all { await opening.close(hosted) }
  }
}
