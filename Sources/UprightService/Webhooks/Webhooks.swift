internal import Foundation
internal import Logging
internal import RotationPolicy
internal import Synchronization
internal import UprightLive
internal import UprightMediaIO

/// Tells the webhooks what happens: signed, in order, tried again, and never waited for.
final class Webhooks: Sendable {
  struct Limits: Sendable {
    var hooks = 16
    /// Messages that wait for one webhook; what comes then is dropped and counted.
    var waiting = 256
    /// Waits between one try and the next.
    var delays: [Duration] = [1, 2, 4, 8, 16].map { .seconds($0) }
    /// Seconds without a byte.
    var timeout = 10.0
  }

  private struct Message: Sendable {
    let id: String
    let body: String
  }

  private struct Line: Sendable {
    let hook: Webhook
    let messages: AsyncStream<Message>.Continuation
    let task: Task<Void, Never>
    /// Whether it was made by the API and is there again after a restart.
    let isKept: Bool
  }

  private struct Counts: Sendable {
    var delivered = 0, failed = 0, dropped = 0
  }

  private struct State: Sendable {
    var lines: [String: Line] = [:]
    var order: [String] = []
    var counts = Counts()
    var way: String?
  }

  private let state = Mutex(State())
  private let proxy: EgressProxy
  private let secrets: Secrets
  private let limits: Limits
  private let file: String
  private let logger: Logger
  private static let name = "webhooks"

  /// - Parameter file: where webhooks that the API makes are kept.
  init(
    proxy: EgressProxy, secrets: Secrets, limits: Limits = Limits(), file: String, logger: Logger
  ) {
    self.proxy = proxy
    self.secrets = secrets
    self.limits = limits
    self.file = file
    self.logger = logger
  }

  var counts: (delivered: Int, failed: Int, dropped: Int) {
    state.withLock { ($0.counts.delivered, $0.counts.failed, $0.counts.dropped) }
  }

  var all: [Webhook] {
    state.withLock { state in state.order.compactMap { state.lines[$0]?.hook } }
  }

  // MARK: - Hooks

  /// Adds those that an earlier run has kept.
  func addKept(rules: AddressRules) {
    guard let data = FileManager.default.contents(atPath: file) else { return }
    guard let value = try? JSONValue(parsing: data), case .array(let hooks) = value else {
      return logger.error("\(file) cannot be read: its webhooks are not used")
    }
    for value in hooks {
      do { try add(Webhook(value, rules: rules, isKept: true), isKept: true) } catch {
        logger.error("a webhook of an earlier run is not used: \(Problem(error).detail)")
      }
    }
  }

  /// Writes those down that the API made, for the service's user alone.
  private func keep() throws(Problem) {
    let hooks = state.withLock { state in
      state.order.compactMap { state.lines[$0] }.filter(\.isKept).map(\.hook.kept)
    }
    let bytes = Data(JSONValue.array(hooks).compact.utf8)
    let temporary = "\(file).new"
    guard
      FileManager.default.createFile(
        atPath: temporary, contents: bytes, attributes: [.posixPermissions: 0o600]),
      unsafe rename(temporary, file) == 0
    else {
      throw .unready("the webhook cannot be kept: there is no room, or no right to write")
    }
  }

  /// Adds one that is there again after a restart.
  ///
  /// - Throws: `Problem` 429 where there are as many as there may be, 503 where it cannot be kept.
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

  /// - Throws: `Problem` 429 where there are as many as there may be.
  func add(_ hook: Webhook, isKept: Bool = false) throws(Problem) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Message.self, bufferingPolicy: .bufferingOldest(limits.waiting))
    let isAdded = state.withLock { state in
      guard state.lines.count < limits.hooks else { return false }
      let task = Task { [weak self] in
        for await message in stream { await self?.deliver(message, to: hook) }
      }
      state.lines[hook.id] = Line(
        hook: hook, messages: continuation, task: task, isKept: isKept)
      state.order.append(hook.id)
      return true
    }
    guard isAdded else {
      throw .tooMany("there are \(limits.hooks) webhooks already", retryAfter: 60)
    }
    secrets.add(hook.secret)
    hook.url.secrets.forEach { secrets.add($0) }
  }

  /// Whether it was one that is kept.
  ///
  /// - Throws: `Problem` 404.
  @discardableResult
  private func discard(_ id: String) throws(Problem) -> Bool {
    let line = state.withLock { state in
      state.order.removeAll { $0 == id }
      return state.lines.removeValue(forKey: id)
    }
    guard let line else { throw .notFound("there is no webhook of that name") }
    line.messages.finish()
    line.task.cancel()
    secrets.remove(line.hook.secret)
    line.hook.url.secrets.forEach(secrets.remove)
    return line.isKept
  }

  // MARK: - Telling

  /// What a session told, for those who want to know it.
  func tell(_ session: String, _ update: LiveUpdate) {
    let (kind, data): (Webhook.Kind, JSONValue)
    switch update {
    case .decision(let decision):
      guard decision.outcome == .rotate else { return }
      (kind, data) = (.turn, decision.json)
    case .format(let format): (kind, data) = (.format, format)
    case .state(let state, let reason): (kind, data) = (.state, state.json(reason, secrets))
    }
    let id = UUID().uuidString.lowercased()
    let body: JSONValue = [
      "id": .string(id), "session": .string(session), "event": .string(kind.rawValue),
      "time": .number((Date().timeIntervalSince1970 * 1000).rounded() / 1000), "data": data,
    ]
    let message = Message(id: id, body: body.compact)
    state.withLock { state in
      for line in state.lines.values where line.hook.kinds.contains(kind) {
        if case .dropped = line.messages.yield(message) { state.counts.dropped += 1 }
      }
    }
  }

  private func deliver(_ message: Message, to hook: Webhook) async {
    var reason = "the receiver does not want it"
    tries: for delay in [.zero] + limits.delays {
      do { try await Task.sleep(for: delay) } catch { return }
      switch await send(message, to: hook) {
      case .delivered: return state.withLock { $0.counts.delivered += 1 }
      case .rejected: break tries
      case .failed(let words): reason = words
      }
    }
    state.withLock { $0.counts.failed += 1 }
    logger.warning("webhook \(hook.id): \(message.id) is not delivered: \(reason)")
  }

  private func send(_ message: Message, to hook: Webhook) async -> HTTPPost.Outcome {
    guard let way = way() else { return .failed("the service is shutting down") }
    let interrupt = Interrupt()
    do {
      let now = Int(Date().timeIntervalSince1970)
      let post = HTTPPost(
        url: hook.url.text, contentType: "application/json",
        fields: [
          "Upright-Delivery: \(message.id)",
          "Upright-Signature: \(try hook.signature(of: message.body, at: now))",
        ], body: Array(message.body.utf8), proxy: way)
      return await withTaskCancellationHandler {
        await blocking { [limits] in post.send(timeout: limits.timeout, interrupt: interrupt) }
      } onCancel: {
        interrupt.raise()
      }
    } catch { return .failed("\(error)") }
  }

  /// The proxy's address for us: every hop is checked there.
  private func way() -> String? {
    if let way = state.withLock({ $0.way }) { return way }
    let secret = Secrets.make()
    secrets.add(secret)
    let made = proxy.admit(Self.name, secret: secret)
    return state.withLock { state in
      state.way = state.way ?? made
      return state.way
    }
  }

  /// Sends nothing any more: what waits is lost.
  func stop() async {
    let lines = state.withLock { state in
      defer { state.lines = [:] }
      return Array(state.lines.values)
    }
    for line in lines {
      line.messages.finish()
      line.task.cancel()
      await line.task.value
    }
  }
}
