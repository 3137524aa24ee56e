internal import NIOCore
internal import UprightPolicy

/// A session at Janus with one handle of the VideoRoom plugin, for one publisher. It is kept alive by a long poll
/// for events.
actor JanusHandle {
  private let client: JanusClient
  private let session: Int
  private let path: String
  /// The transactions that wait for an event.
  private var waiting: [String: AsyncStream<JSONValue>.Continuation] = [:]
  private var polling: Task<Void, Never>?
  /// Why Janus has ended the session or the connection of the publisher.
  private var endReason: String?
  private var onEnd: (@Sendable (String) -> Void)?
  /// A condition that ends the session, checked about every half a minute, and the reason.
  private var endCondition: (reason: String, isMet: @Sendable () -> Bool)?

  /// The number of polls in a row that may fail before Janus is taken to be gone.
  private static let failures = 3

  private init(_ client: JanusClient, session: Int, handle: Int) {
    self.client = client
    self.session = session
    path = "/\(session)/\(handle)"
  }

  /// Creates a session and a handle at Janus. `close` must be called.
  static func open(_ client: JanusClient) async throws(JanusError) -> JanusHandle {
    let session = try id(in: await client.send("create"))
    do throws(JanusError) {
      let handle = try id(
        in: await client.send(
          "attach", [.init("plugin", "janus.plugin.videoroom")], to: "/\(session)"))
      let janus = JanusHandle(client, session: session, handle: handle)
      await janus.startPolling()
      return janus
    } catch {
      _ = try? await client.send("destroy", to: "/\(session)")
      throw error
    }
  }

  private static func id(in answer: JSONValue) throws(JanusError) -> Int {
    guard let id = answer["data"]?["id"]?.integer, id >= 0 else {
      throw .noAnswer("the answer has no id")
    }
    return id
  }

  // MARK: - Requests

  /// Sends a request that the plugin answers at once.
  func request(_ body: JSONValue) async throws(JanusError) -> JSONValue {
    try JanusClient.data(of: await client.send("message", [.init("body", body)], to: path))
  }

  /// Sends a request with an offer, and waits for the event with the answer.
  ///
  /// - Parameter trickles: Whether candidates follow.
  func negotiate(
    _ body: JSONValue, offer: String, trickles: Bool
  ) async throws(JanusError) -> (data: JSONValue, answer: String) {
    let transaction = Secrets.make()
    let (events, continuation) = AsyncStream.makeStream(
      of: JSONValue.self, bufferingPolicy: .bufferingOldest(4))
    waiting[transaction] = continuation
    defer { waiting[transaction] = nil }
    let offer: JSONValue = [
      "type": "offer", "sdp": .string(offer), "trickle": .bool(trickles),
    ]
    _ = try await client.send(
      "message", [.init("body", body), .init("jsep", offer)], to: path, transaction: transaction)
    let event: JSONValue?
    do {
      event = try await within(client.limits.request) { await events.first { _ in true } }
    } catch { throw error as? JanusError ?? .noAnswer("the request was cancelled") }
    guard let event else { throw .noAnswer(endReason ?? "the session has ended") }
    let data = try JanusClient.data(of: event)
    guard let answer = event["jsep"]?["sdp"]?.text else {
      throw .noAnswer("the event has no session description")
    }
    return (data, answer)
  }

  /// Passes on candidates of the publisher.
  func trickle(_ candidates: [JSONValue]) async throws(JanusError) {
    _ = try await client.send(
      "trickle", [.init("candidates", .array(candidates))], to: path)
  }

  // MARK: - Events

  /// Sets the closure that is called once with the reason when Janus ends the session or the publisher's
  /// connection.
  func onEnd(_ body: @escaping @Sendable (String) -> Void) {
    if let endReason { body(endReason) } else { onEnd = body }
  }

  /// Ends the session for `reason` when `isMet` returns `true`. It is called about every half a minute.
  func endWhen(_ reason: String, _ isMet: @escaping @Sendable () -> Bool) {
    endCondition = (reason, isMet)
  }

  private func startPolling() { polling = Task { [weak self] in await self?.poll() } }

  private func poll() async {
    var failures = 0
    while !Task.isCancelled, endReason == nil {
      do throws(JanusError) {
        handle(try await client.poll(session: session))
        failures = 0
      } catch {
        failures += 1
        guard !error.isGone else {
          return end("the WebRTC server has restarted or ended the session")
        }
        guard failures < Self.failures else { return end(error.reason) }
        try? await Task.sleep(for: .milliseconds(300))
      }
    }
  }

  private func handle(_ event: JSONValue) {
    switch event["janus"]?.text {
    case "event":
      if let transaction = event["transaction"]?.text { waiting[transaction]?.yield(event) }
    case "hangup":
      end("the publisher has disconnected: \(printable(event["reason"]?.text ?? "no reason"))")
    case "keepalive":
      if let endCondition, endCondition.isMet() { end(endCondition.reason) }
    case "timeout", "detached": end("the WebRTC server has ended the session")
    default: break
    }
  }

  private func end(_ reason: String) {
    guard endReason == nil else { return }
    endReason = reason
    for continuation in waiting.values { continuation.finish() }
    onEnd?(reason)
    onEnd = nil
  }

  /// Ends the session at Janus, and with it the publisher's connection.
  func close() async {
    endReason = endReason ?? "closed"
    onEnd = nil
    polling?.cancel()
    for continuation in waiting.values { continuation.finish() }
    _ = try? await client.send("destroy", to: "/\(session)")
  }
}
