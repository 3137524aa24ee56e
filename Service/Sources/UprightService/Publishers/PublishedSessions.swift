internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import UprightPolicy
internal import Synchronization
internal import UprightRTMP

/// The sessions that publishers create by connecting, from the templates of the configuration.
final class PublishedSessions: Sendable {
  private struct State: Sendable {
    var claims: [PublishAcceptor.Claim] = []
    /// The HTTP client for hooks; `nil` before `start`, after `stop` and without hooks.
    var client: WebhookClient?
    var isStopped = false
  }

  private let templates: [SessionTemplate]
  /// The names and keys of the sessions of the configuration, which no publisher can take.
  private let declared: Set<String>
  private let sessions: Sessions
  private let acceptor: PublishAcceptor
  private let proxy: EgressProxy
  private let trustRoots: NIOSSLTrustRoots
  private let logger: Logger
  private let state = Mutex(State())

  /// The maximum number of simultaneous requests to a hook. Further ones wait.
  private static let requests = 64
  /// The maximum sizes of what a publisher sends to a hook, in bytes.
  private static let (maxApp, maxKey) = (256, 4096)

  /// - Parameters:
  ///   - entries: The configuration's `sessions`.
  ///   - trustRoots: The certificates that may issue a hook's certificate.
  init(
    _ templates: [SessionTemplate], entries: [JSONValue], sessions: Sessions,
    acceptor: PublishAcceptor, proxy: EgressProxy, trustRoots: NIOSSLTrustRoots, logger: Logger
  ) {
    self.templates = templates
    declared = Set(
      entries.flatMap { entry in
        let url = entry["input"]?["url"]?.text.flatMap(StreamURL.init)
        return [entry["name"]?.text, url?.streamPath.last]
      }.compactMap(\.self))
    self.sessions = sessions
    self.acceptor = acceptor
    self.proxy = proxy
    self.trustRoots = trustRoots
    self.logger = logger
    for template in templates {
      if let key = template.key { sessions.secrets.add(key) }
      template.port.passphraseSecrets.forEach { sessions.secrets.add($0) }
      template.hook?.receiver.secrets.forEach { sessions.secrets.add($0) }
    }
  }

  /// Makes the HTTP client, after the egress proxy has started. `stop` must follow.
  func start() {
    guard let longest = templates.compactMap(\.hook?.timeout).max() else { return }
    let client = WebhookClient(
      proxy: proxy, name: ".publishers", secrets: sessions.secrets,
      timeout: .milliseconds(Int64(longest * 1000)), connections: Self.requests,
      trustRoots: trustRoots)
    state.withLock { $0.client = client }
  }

  /// Binds the templates' ports.
  func listen() async {
    for template in templates {
      do throws(Problem) {
        let admission = PublishRoutes.Admission {
          (request) throws(PublishRefusal) in
          try Self.check(request, template)
        } admit: { [weak self] (request) throws(PublishRefusal) in
          guard let self else { throw PublishRefusal("the service has ended", .denied) }
          return try await admit(request, template)
        }
        let claim = try await acceptor.claim(
          template.port, path: template.pattern.description,
          for: .pattern(template.pattern, admission))
        let isLate = state.withLock { state in
          state.claims.append(claim)
          return state.isStopped
        }
        if isLate { return await stop() }
        logger.info("sessions \(template.pattern): waiting for publishers")
      } catch {
        logger.error("can't start the sessions \(template.pattern): \(error.detail)")
      }
    }
  }

  /// Ends the requests to hooks, whose publishers are rejected, and releases the ports.
  func stop() async {
    let (claims, client) = state.withLock { state in
      defer { state = State(isStopped: true) }
      return (state.claims, state.client)
    }
    await client?.shutDown()
    for claim in claims { await acceptor.release(claim) }
  }

  // MARK: - One publisher

  /// Returns the session of a publisher whose stream matches the template. Asks the hook, and creates the session
  /// unless it runs.
  private func admit(
    _ request: PublishRequest, _ template: SessionTemplate
  ) async throws(PublishRefusal) -> PublishRoutes.Route {
    try Self.check(request, template)
    let answer = try await ask(template.hook, about: request)
    // The secrets of a session are hidden once it is created.
    var hidden: [String] = []
    defer { hidden.forEach(sessions.secrets.remove) }
    do {
      let wanted = try template.request(
        name: request.name, path: request.path, key: request.key, answer: answer,
        rules: sessions.rules)
      for case .push(let url) in wanted.outputs { hidden += url.secrets }
      hidden.forEach { sessions.secrets.add($0) }
      return try await route(to: wanted, template)
    } catch let refusal as PublishRefusal { throw refusal } catch {
      let problem = Problem(error)
      logger.warning("sessions \(template.pattern): can't create a session: \(problem.detail)")
      // Other problems are the operator's.
      let isPassing = [.conflict, .tooManyRequests, .serviceUnavailable].contains(problem.status)
      throw PublishRefusal(
        isPassing ? sessions.secrets.redact(problem.detail) : "the session can't be created",
        problem.status == .conflict ? .taken : .denied)
    }
  }

  private static func check(
    _ request: PublishRequest, _ template: SessionTemplate
  ) throws(PublishRefusal) {
    if let key = template.key, !constantTimeEqual(request.key, key) {
      throw PublishRefusal("the key is wrong", .denied)
    }
    guard SessionRequest.isName(request.name) else {
      throw PublishRefusal("the name \(SessionRequest.nameRule)", .invalid)
    }
    guard request.app.utf8.count <= maxApp, request.key.utf8.count <= maxKey,
      request.app.split(separator: "/", omittingEmptySubsequences: false).allSatisfy({
        AddressRules.isName(String($0)) || request.app.isEmpty
      })
    else { throw PublishRefusal("the app or the key isn't valid", .invalid) }
  }

  private func ask(
    _ hook: PublishHook?, about request: PublishRequest
  ) async throws(PublishRefusal) -> [JSONValue.Member] {
    guard let hook else { return [] }
    guard let client = state.withLock({ $0.client }) else {
      throw PublishRefusal("the service is shutting down", .denied)
    }
    do throws(RequestFailure) {
      return try await hook.ask(about: request, client)
    } catch {
      throw PublishRefusal("the publish hook refused: \(error.reason)", .denied)
    }
  }

  /// Returns the route to the session if it runs and is of this template; otherwise creates it.
  private func route(
    to wanted: SessionRequest, _ template: SessionTemplate
  ) async throws -> PublishRoutes.Route {
    guard !declared.contains(wanted.name ?? "") else {
      throw PublishRefusal("a session of the configuration has this name", .taken)
    }
    if let name = wanted.name, let running = try? sessions.find(name), !running.hasEnded {
      guard let (id, route) = running.input.admission, id == template.id else {
        throw PublishRefusal("another session has this name", .taken)
      }
      return route
    }
    let hosted = try await sessions.create(wanted)
    guard let (_, route) = hosted.input.admission, !Task.isCancelled else {
      await sessions.end(hosted)
      sessions.forget(hosted)
      throw PublishRefusal("the publisher has left")
    }
    return route
  }
}
