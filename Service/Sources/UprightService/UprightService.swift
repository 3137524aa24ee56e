internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOSSL
package import UprightOrientation
internal import UprightPolicy
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals
internal import Upright

/// The live service: owns and connects all components of one process.
package final class UprightService: Sendable {
  /// The service's dependencies and timeouts, which tests replace.
  package struct Dependencies: Sendable {
    /// `nil` for real sessions.
    var makeSession: MakeSession?
    var resolver: any Resolver = SystemResolver()
    var ownAddresses = IPAddress.ofThisMachine
    var eventTimes = EventStreamRoutes.Times()
    var publisherTimeouts = PublisherHandler.Timeouts()
    var webhooks = Webhooks.Limits()
    /// The interval at which old recordings are looked for.
    var retentionInterval = Duration.seconds(60)
    var webrtc = JanusClient.Limits()
    /// The path of `upright-serve`, for the processes of the library.
    var program = "/proc/self/exe"
    /// Returns the counts of which the load is made.
    var loadSample: @Sendable () -> ProcessorLoad.Sample? = { .current }
    /// The certificates that may issue the certificate of a webhook's receiver.
    var trustRoots = NIOSSLTrustRoots.default
    /// Returns the time for signed URLs, in seconds since 1970.
    var now: @Sendable () -> Int = { Int(clamping: Date().timeIntervalSince1970) }
    /// The time limit of a connection's first request with the TLS handshake before it, and of the progress of a body.
    var requestTimeout = TimeAmount.seconds(10)
    /// The time limit of a request to the HTTP origin.
    var originTimeout = TimeAmount.seconds(5)

    package init() {}
  }

  let configuration: ServiceConfiguration
  let sessions: Sessions
  private let load: ProcessorLoad
  package let secrets: Secrets
  private let credentials: Credentials
  private let proxy: EgressProxy
  private let webhooks: Webhooks
  private let acceptor: PublishAcceptor
  private let published: PublishedSessions
  let recordings: Recordings
  /// The folder that is served as HLS on demand; `nil` if there is none.
  private let library: Library?
  /// The WebRTC server; `nil` if there is none.
  private let webrtc: WebRTCServer?
  /// Its process, if it is one of this service.
  private let janus: JanusProgram?
  /// The HTTP origin for sessions that may move; `nil` if there is none.
  private let origin: OriginClient?
  private let folders: DataFolders
  private let dependencies: Dependencies
  private let logger: Logger
  private let state = Mutex(State())

  private struct State: Sendable {
    var port: Int?
    var isReady = false
    var group: ServiceGroup?
  }

  /// - Throws: `configuration` if the stored token, the certificate, a playback key, a template or the publish hook
  ///   is invalid, `cannotCreate` if the data folder or a secret in it can't be created.
  package init(
    _ configuration: ServiceConfiguration, secrets: Secrets, logger: Logger,
    dependencies: Dependencies = Dependencies()
  ) throws(UprightError) {
    let folders = DataFolders(
      root: URL(fileURLWithPath: configuration.data).standardizedFileURL.path)
    try folders.make()
    let reached = try configuration.inNetwork(
      folders, local: .inNetwork(among: dependencies.ownAddresses), now: dependencies.now())
    let (configuration, janus) = try Self.withJanus(reached, folders, logger)
    (self.configuration, self.janus, self.folders) = (configuration, janus, folders)
    (self.secrets, self.logger, self.dependencies) = (secrets, logger, dependencies)
    secrets.hide(folder: folders.root)
    credentials = try Credentials(
      configuration, folders, secrets: secrets, now: dependencies.now, logger: logger)
    let rules = AddressRules(
      allowHosts: configuration.allowHosts.compactMap(HostPattern.init),
      dataFolder: folders.root, ownAddresses: dependencies.ownAddresses)
    let templates = try SessionTemplate.all(of: configuration, rules: rules)
    let updates = SessionUpdates()
    proxy = EgressProxy(rules: rules, resolver: dependencies.resolver, logger: logger) {
      updates.publish(.refused($1), of: $0)
    }
    // A server in front publishes all streams from one address.
    acceptor = PublishAcceptor(
      logger: logger, maxPerPeer: max(64, 2 * configuration.maxSessions),
      timeouts: dependencies.publisherTimeouts, certificate: credentials.certificate)
    webrtc = try configuration.webrtc.map { (url) throws(UprightError) in
      WebRTCServer(
        url, configuration, key: try folders.secret("webrtc-key", make: Secrets.make).text,
        limits: dependencies.webrtc, logger: logger)
    }
    origin = configuration.hlsOrigin.map {
      OriginClient(
        base: $0, token: configuration.hlsOriginToken, timeout: dependencies.originTimeout)
    }
    let factory = SessionFactory(
      makeSession: dependencies.makeSession ?? configuration.workers.makeSession(),
      resolver: dependencies.resolver, proxy: proxy,
      acceptor: acceptor, folders: folders, webrtc: webrtc, origin: origin,
      partSeconds: configuration.part)
    load = ProcessorLoad(limit: configuration.maxLoad, sample: dependencies.loadSample)
    sessions = Sessions(
      configuration, factory: factory, rules: rules, secrets: secrets, updates: updates,
      load: load, logger: logger)
    recordings = Recordings(
      RecordingFolder(root: folders.recordings), of: sessions, retention: configuration.recordings,
      interval: dependencies.retentionInterval, logger: logger)
    library = try configuration.library.map { (path) throws(UprightError) in
      try Library(
        path, configuration, folders, program: dependencies.program, logger: logger)
    }
    webhooks = Webhooks(
      of: sessions, proxy: proxy, limits: dependencies.webhooks,
      trustRoots: dependencies.trustRoots, file: try folders.state() + "/webhooks.json",
      logger: logger)
    published = PublishedSessions(
      templates, entries: configuration.sessions, sessions: sessions, acceptor: acceptor,
      proxy: proxy, trustRoots: dependencies.trustRoots, logger: logger)
  }

  /// Returns the configuration with the address of a Janus of this service, if the setting is `auto`. Without an installed one
  /// there is no WebRTC server.
  private static func withJanus(
    _ configuration: ServiceConfiguration, _ folders: DataFolders, _ logger: Logger
  ) throws(UprightError) -> (ServiceConfiguration, JanusProgram?) {
    guard configuration.webrtc == JanusProgram.setting else { return (configuration, nil) }
    let secret = try folders.secret("janus-secret", make: Secrets.make).text
    let janus = try JanusProgram(
      in: folders.state() + "/janus", secret: secret,
      path: ProcessInfo.processInfo.environment["PATH"], logger: logger)
    var configuration = configuration
    (configuration.webrtc, configuration.webrtcSecret) = (janus?.url, janus?.secret)
    return (configuration, janus)
  }

  package var token: String { credentials.token }

  /// Whether this run generated the token, so that it must be shown to the operator.
  package var isNewToken: Bool { credentials.isNewToken }

  /// The logins of browsers.
  var logins: Logins { credentials.logins }

  /// The HTTP port; `nil` before it is bound.
  package var port: Int? { state.withLock { $0.port } }

  /// What the terminal of a service shows that the phones of its network reach, with a new code to log in; `nil` for others,
  /// and before the port is bound.
  package var invitation: String? {
    guard let address = configuration.lanAddress, let port else { return nil }
    let console = configuration.publicURL ?? "https://\(address.host):\(port)"
    let minutes = 60
    return NetworkInvitation(
      console: console.hasSuffix("/") ? console : console + "/",
      code: credentials.logins.invite(seconds: minutes * 60), minutes: minutes,
      hasOwnCertificate: configuration.hasOwnCertificate
    ).text
  }

  /// The number of webhook messages by outcome.
  var webhookCounts: (delivered: Int, failed: Int, dropped: Int) { webhooks.counts }

  /// Whether the service has started, including the sessions of the configuration.
  var isReady: Bool { state.withLock { $0.isReady } }

  /// Shuts down as on SIGTERM: ends the sessions so that their outputs are playable, then `run` returns.
  func shutDown() async { await state.withLock { $0.group }?.triggerGracefulShutdown() }

  var router: Router<ServiceContext> {
    let plain = Router(context: ServiceContext.self)
    addRoutes(to: plain)
    let router = Router(context: ServiceContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: ProblemMiddleware(secrets: secrets, methods: RouteMethods(plain)))
    router.add(
      middleware: HostMiddleware(
        configured: configuration.publicURL.flatMap { PublicURL($0) },
        isSecure: credentials.certificate != nil)
    )
    router.add(
      middleware: AccessMiddleware(
        token: token, publishKey: { [sessions] in sessions.publishKey(of: $0) },
        links: credentials.publishLinks, logins: credentials.logins,
        isLibraryOpen: configuration.openLibrary))
    addRoutes(to: router)
    return router
  }

  private func addRoutes(to router: Router<ServiceContext>) {
    ConsoleRoutes(logins: credentials.logins).add(to: router)
    Thumbnails(sessions: sessions).add(to: router)
    PolicyRoutes(bodyLimit: configuration.bodyLimit).add(to: router)
    SampleRoutes(sessions: sessions).add(to: router)
    PublishAddressRoutes(
      sessions: sessions, local: .inNetwork(among: dependencies.ownAddresses)
    ).add(to: router)
    SessionRoutes(sessions: sessions, bodyLimit: configuration.bodyLimit).add(to: router)
    LeaseRoutes(sessions: sessions, bodyLimit: configuration.bodyLimit).add(to: router)
    OutputRoutes(sessions: sessions, bodyLimit: configuration.bodyLimit).add(to: router)
    EventStreamRoutes(sessions: sessions, times: dependencies.eventTimes).add(to: router)
    WebhookRoutes(webhooks: webhooks, rules: sessions.rules, bodyLimit: configuration.bodyLimit)
      .add(to: router)
    PlaybackRoutes(
      sessions: sessions, keys: credentials.playbackKeys, bodyLimit: configuration.bodyLimit
    ).add(to: router)
    LiveFileRoutes(
      sessions: sessions, folders: folders, keys: credentials.playbackKeys,
      blocked: BlockedRequests(connections: configuration.maxConnections)
    ).add(to: router)
    RecordingRoutes(recordings: recordings).add(to: router)
    LibraryRoutes(
      library: library, keys: credentials.playbackKeys, bodyLimit: configuration.bodyLimit
    ).add(to: router)
    WHIPRoutes(sessions: sessions, iceLinks: webrtc?.iceLinks ?? []).add(to: router)
    PublishPageRoutes(
      sessions: sessions, links: credentials.publishLinks, bodyLimit: configuration.bodyLimit
    ).add(to: router)
    StatusRoutes(
      sessions: sessions,
      metrics: ServiceMetrics(
        sessions: sessions, webhooks: webhooks, folders: folders, publishers: acceptor),
      folders: folders,
      minFreeSpace: configuration.minFreeSpace
    ) { [weak self] in self?.isReady ?? false }.add(to: router)
  }

  /// Reads the certificate and the playback keys again.
  func reload() { credentials.reload(logger) }

  /// Serves until the task is cancelled or, with `signals`, SIGTERM or SIGINT is received. Then ends every
  /// session so that its outputs are playable. With `signals`, SIGHUP reloads the files of the configuration that
  /// name a certificate or keys; if it names none, SIGHUP ends the process.
  ///
  /// - Parameter serving: Called when the port is bound and the sessions of the configuration have started.
  /// - Throws: `UprightError` `cannotCreate` if the port is in use or another process uses the data folder.
  package func run(signals: Bool, serving: @escaping @Sendable () -> Void = {}) async throws {
    let lock = try folders.lock()
    defer { close(lock) }
    try await proxy.start()
    webhooks.start()
    published.start()
    janus?.start()
    webrtc?.start()
    origin?.start()
    folders.removeLive(but: Set(configuration.sessions.compactMap { $0["name"]?.text }))
    let application = Application(
      router: router,
      server: .http1(
        certificate: credentials.certificate, connections: configuration.maxConnections,
        timeout: dependencies.requestTimeout),
      configuration: .init(
        address: .hostname(configuration.listen.host, port: configuration.listen.port),
        serverName: nil),
      onServerRunning: { [self] channel in
        await startSessions(channel)
        serving()
      }, logger: logger)
    // Services shut down from last to first, so the HTTP server still answers while the sessions end.
    let drain = SessionService(
      sessions: sessions, published: published, seconds: configuration.drainTimeout * 0.8)
    var services: [any Service] = [
      EgressService(
        proxy: proxy, webhooks: webhooks, webrtc: webrtc, janus: janus, origin: origin),
      BackgroundService { [recordings] in await recordings.run() },
      BackgroundService { [load] in await load.run() }, application, drain,
    ]
    if let library { services.append(BackgroundService { await library.run() }) }
    if signals, credentials.certificate != nil || configuration.playbackKeyFile != nil {
      services.append(ReloadService { [self] in reload() })
    }
    var configuration = ServiceGroupConfiguration(
      services: services,
      gracefulShutdownSignals: signals ? [.sigterm, .sigint] : [], logger: logger)
    // The service group doesn't wait longer than this.
    configuration.maximumGracefulShutdownDuration = .seconds(self.configuration.drainTimeout)
    let group = ServiceGroup(configuration: configuration)
    state.withLock { $0.group = group }
    do { try await group.run() } catch let error as IOError where error.errnoCode == EADDRINUSE {
      throw UprightError(
        .cannotCreate, "the port is in use", at: self.configuration.listen.description,
        remedy: "choose another port with --listen, or stop the process that uses it")
    }
  }

  private func startSessions(_ channel: any Channel) async {
    state.withLock { $0.port = channel.localAddress?.port }
    for value in configuration.webhooks {
      do { try webhooks.add(Webhook(value, rules: sessions.rules)) } catch {
        logger.error("ignoring a webhook of the configuration: \(Problem(error).detail)")
      }
    }
    webhooks.addKept(rules: sessions.rules)
    for value in configuration.sessions where !SessionTemplate.isTemplate(value) {
      do {
        var request = try SessionRequest(value, rules: sessions.rules)
        request.isDeclared = true
        _ = try await sessions.create(request)
      } catch {
        logger.error(
          "can't start the session \(value["name"]?.text ?? ""): \(Problem(error).detail)")
      }
    }
    // After the declared sessions, whose names and paths come first.
    await published.listen()
    state.withLock { $0.isReady = true }
  }
}

/// The egress proxy, the webhooks, the WebRTC server and the origin, which stop last.
private struct EgressService: Service {
  let proxy: EgressProxy
  let webhooks: Webhooks
  let webrtc: WebRTCServer?
  let janus: JanusProgram?
  let origin: OriginClient?

  func run() async throws {
    try? await gracefulShutdown()
    await webhooks.stop()
    await webrtc?.stop()
    await janus?.stop()
    await origin?.stop()
    await proxy.stop()
  }
}

/// Works until the service shuts down.
private struct BackgroundService: Service {
  let work: @Sendable () async -> Void

  init(_ work: @escaping @Sendable () async -> Void) { self.work = work }

  func run() async throws {
    await cancelWhenGracefulShutdown { await work() }
    // A service that ends would end the others.
    try? await gracefulShutdown()
  }
}

/// Reloads files on SIGHUP.
private struct ReloadService: Service {
  let reload: @Sendable () -> Void

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      reload()
    }
  }
}

/// Ends all sessions when the service shuts down.
private struct SessionService: Service {
  let sessions: Sessions
  let published: PublishedSessions
  let seconds: Double

  func run() async throws {
    try? await gracefulShutdown()
    async let refusals: Void = published.stop()
    await sessions.drain(within: seconds)
    await refusals
  }
}
