internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import UprightPolicy
internal import Synchronization
internal import Upright

/// Delivers session events to webhooks: signed, in order, with retries, and without blocking the sessions.
final class Webhooks: Sendable {
  struct Limits: Sendable {
    var hooks = 16
    /// The maximum number of messages waiting for one webhook. Further messages are dropped and counted.
    var waiting = 256
    /// The delays between attempts.
    var delays: [Duration] = [1, 2, 4, 8, 16].map { .seconds($0) }
    /// The maximum time for the connection, and then without a byte sent or received. The answer's head must
    /// have been received after three times as long.
    var timeout = TimeAmount.seconds(10)
  }

  private struct Message: Sendable {
    let id: String
    let body: String
  }

  private struct Queue: Sendable {
    let hook: Webhook
    let messages: AsyncStream<Message>.Continuation
    let task: Task<Void, Never>
    /// Whether it was created by the API and is restored after a restart.
    let isKept: Bool
  }

  private struct Counts: Sendable {
    var delivered = 0, failed = 0, dropped = 0
  }

  private struct State: Sendable {
    var queues: [String: Queue] = [:]
    var order: [String] = []
    var counts = Counts()
    /// The HTTP client; `nil` before `start` and after `stop`.
    var client: WebhookClient?
  }

  private let state = Mutex(State())
  private let proxy: EgressProxy
  private let secrets: Secrets
  private let limits: Limits
  private let trustRoots: NIOSSLTrustRoots
  private let file: String
  private let logger: Logger

  /// - Parameters:
  ///   - trustRoots: The certificates that may issue a receiver's certificate.
  ///   - file: The path of the file that stores the webhooks created by the API.
  init(
    of sessions: Sessions, proxy: EgressProxy, limits: Limits, trustRoots: NIOSSLTrustRoots,
    file: String, logger: Logger
  ) {
    self.proxy = proxy
    secrets = sessions.secrets
    self.limits = limits
    self.trustRoots = trustRoots
    self.file = file
    self.logger = logger
    sessions.updates.subscribe { [weak self] in self?.enqueue($0, $1) }
  }

  var counts: (delivered: Int, failed: Int, dropped: Int) {
    state.withLock { ($0.counts.delivered, $0.counts.failed, $0.counts.dropped) }
  }

  var all: [Webhook] {
    state.withLock { state in state.order.compactMap { state.queues[$0]?.hook } }
  }

  // MARK: - Hooks

  /// Adds the webhooks that an earlier run stored.
  func addKept(rules: AddressRules) {
    guard let data = FileManager.default.contents(atPath: file) else { return }
    guard let value = try? JSONValue(parsing: data), case .array(let hooks) = value else {
      return logger.error("can't read \(file): ignoring its webhooks")
    }
    for value in hooks {
      do { try add(Webhook(value, rules: rules, isKept: true), isKept: true) } catch {
        logger.error("ignoring a webhook of an earlier run: \(Problem(error).detail)")
      }
    }
  }

  /// Stores the webhooks created by the API, in a file that only the service's user can read.
  private func keep() throws(Problem) {
    let hooks = state.withLock { state in
      state.order.compactMap { state.queues[$0] }.filter(\.isKept).map(\.hook.kept)
    }
    let bytes = Data(JSONValue.array(hooks).compact.utf8)
    guard PrivateFile.replace(file, with: bytes, through: "\(file).new")
    else {
      throw .unready("can't store the webhook; check free space and permissions of the data folder")
    }
  }

  /// Adds a webhook and stores it, so that it is restored after a restart.
  ///
  /// - Throws: `Problem` 429 if the maximum number of webhooks is reached, 503 if it can't be stored.
  func addAndKeep(_ hook: Webhook) throws(Problem) {
    try add(hook, isKept: true)
    do { try keep() } catch {
      try discard(hook.id)
      throw error
    }
  }

  /// - Throws: `Problem` 404.
  func remove(_ id: String) throws(Problem) {
    if try discard(id) { try keep() }
  }

  /// - Throws: `Problem` 429 if the maximum number of webhooks is reached.
  func add(_ hook: Webhook, isKept: Bool = false) throws(Problem) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Message.self, bufferingPolicy: .bufferingOldest(limits.waiting))
    let isAdded = state.withLock { state in
      guard state.queues.count < limits.hooks else { return false }
      let task = Task { [weak self] in
        for await message in stream { await self?.deliver(message, to: hook) }
      }
      state.queues[hook.id] = Queue(
        hook: hook, messages: continuation, task: task, isKept: isKept)
      state.order.append(hook.id)
      return true
    }
    guard isAdded else {
      throw .tooMany("there are already \(limits.hooks) webhooks", retryAfter: 60)
    }
    hook.receiver.secrets.forEach { secrets.add($0) }
  }

  /// Removes a webhook. Returns whether it is a stored one.
  ///
  /// - Throws: `Problem` 404.
  @discardableResult
  private func discard(_ id: String) throws(Problem) -> Bool {
    let queue = state.withLock { state in
      state.order.removeAll { $0 == id }
      return state.queues.removeValue(forKey: id)
    }
    guard let queue else { throw .notFound("there is no webhook with this id") }
    queue.messages.finish()
    queue.task.cancel()
    queue.hook.receiver.secrets.forEach(secrets.remove)
    return queue.isKept
  }

  // MARK: - Delivery

  /// Queues an update of a session for the webhooks that subscribe to its kind.
  private func enqueue(_ session: String, _ update: SessionUpdates.Update) {
    switch update {
    case .live(.decision(let decision)):
      if decision.outcome == .rotate { enqueue(session, .turn, decision.json) }
    case .live(.format(let change)): enqueue(session, .format, change.json)
    case .live(.state(let state, let reason)):
      enqueue(session, .state, state.json(reason, secrets))
    case .recording(let recording): enqueue(session, .recording, recording)
    case .live, .refused: break
    }
  }

  private func enqueue(_ session: String, _ kind: Webhook.Kind, _ data: JSONValue) {
    let id = UUID().uuidString.lowercased()
    let body: JSONValue = [
      "id": .string(id), "session": .string(session), "event": .string(kind.rawValue),
      "time": .number((Date().timeIntervalSince1970 * 1000).rounded() / 1000), "data": data,
    ]
    let message = Message(id: id, body: body.compact)
    state.withLock { state in
      for queue in state.queues.values where queue.hook.kinds.contains(kind) {
        if case .dropped = queue.messages.yield(message) { state.counts.dropped += 1 }
      }
    }
  }

  private func deliver(_ message: Message, to hook: Webhook) async {
    var reason = "rejected by the receiver"
    tries: for delay in [.zero] + limits.delays {
      do { try await Task.sleep(for: delay) } catch { return }
      guard let client = state.withLock({ $0.client }) else {
        reason = "the service is shutting down"
        continue
      }
      do throws(RequestFailure) {
        switch try await client.post(message.body, id: message.id, to: hook.receiver).status {
        case 200..<300: return state.withLock { $0.counts.delivered += 1 }
        // The receiver will refuse it later too.
        case 400, 401, 403, 404: break tries
        case let status: reason = "the receiver answered \(status)"
        }
      } catch { reason = error.reason }
    }
    logger.warning("webhook \(hook.id): can't deliver \(message.id): \(reason)")
    state.withLock { $0.counts.failed += 1 }
  }

  /// Makes the HTTP client, after the egress proxy has started. `stop` must follow.
  func start() {
    let client = WebhookClient(
      proxy: proxy, name: ".webhooks", secrets: secrets, timeout: limits.timeout,
      connections: limits.hooks, trustRoots: trustRoots)
    state.withLock { $0.client = client }
  }

  /// Stops all deliveries. Messages that wait are lost.
  func stop() async {
    let (queues, client) = state.withLock { state in
      defer { (state.queues, state.client) = ([:], nil) }
      return (Array(state.queues.values), state.client)
    }
    for queue in queues {
      queue.messages.finish()
      queue.task.cancel()
    }
    for queue in queues { await queue.task.value }
    await client?.shutDown()
  }
}
