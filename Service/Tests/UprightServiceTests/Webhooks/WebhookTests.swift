import Foundation
import NIOCore
import UprightPolicy
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Webhooks")
struct WebhookTests {
  private static func answer(_ status: String) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  }

  /// Starts a service that allows webhooks to `port` and retries after a few milliseconds.
  private static func service(
    _ port: Int, waiting: Int = 256, timeout: TimeAmount = .minutes(10)
  ) async throws -> RunningService {
    try await RunningService { configuration, dependencies in
      configuration.allowHosts = ["127.0.0.1:\(port)"]
      dependencies.webhooks.delays = [.milliseconds(10), .milliseconds(20)]
      dependencies.webhooks.waiting = waiting
      dependencies.webhooks.timeout = timeout
    }
  }

  /// Adds a webhook for states, and makes a session live. Returns the webhook's id.
  private static func tell(_ service: RunningService, _ port: Int) async throws -> String {
    let made = try await service.ask(
      "POST", "/v1/webhooks", "{\"url\": \"http://127.0.0.1:\(port)/\", \"events\": [\"state\"]}")
    try await service.session()
    service.script.sessions[0].become(.live)
    return try #require(made.json["id"].string)
  }

  /// HMAC-SHA-256 test cases of RFC 4231, 4.2 and 4.3.
  @Test("The hash of the signature")
  func hash() {
    #expect(
      Secrets.hash("Hi There", key: String(repeating: "\u{0B}", count: 20))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      Secrets.hash("what do ya want for nothing?", key: "Jefe")
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test(
    "Rotations, formats and states are delivered signed and in order; retries have the same id"
  )
  func delivery() async throws {
    let count = Mutex(0)
    let origin = try EgressProxyTests.Origin { _ in
      let number = count.withLock {
        $0 += 1; return $0
      }
      return Self.answer(number == 1 ? "503 Not now" : "204 Taken")
    }
    let service = try await Self.service(origin.port)
    let made = try await service.ask(
      "POST", "/v1/webhooks",
      "{\"url\": \"http://127.0.0.1:\(origin.port)/hook?token=tttt1\", \"secret\": \"0123456789abcdef\"}"
    )
    #expect(made.status == 201 && made.json["secret"].string == "0123456789abcdef", "\(made.text)")
    try await service.session()
    let session = service.script.sessions[0]
    session.become(.live)
    try await service.ask(
      "POST", "/v1/sessions/one/events",
      "[{\"device\": \"landscapeLeft\"}, {\"at\": 4, \"device\": \"faceUp\"}]")
    session.tell(.format(to: .landscapeRight))
    #expect(try await waitUntil { origin.heads.withLock { $0.count } >= 4 })
    #expect(try await waitUntil { service.service.webhookCounts.delivered == 3 })
    let heads = origin.heads.withLock { $0 }
    let messages = try heads.map { head in
      let parts = head.components(separatedBy: "\r\n\r\n")
      return (
        head: parts[0], body: parts[1],
        json: try JSONDecoder().decode(JSON.self, from: Data(parts[1].utf8))
      )
    }
    #expect(messages.map { $0.json["event"].string } == ["state", "state", "turn", "format"])
    #expect(messages.allSatisfy { $0.json["session"].string == "one" })
    #expect(messages[2].json["data"]["to"].string == "landscapeRight")
    #expect(
      messages[0].json["id"] == messages[1].json["id"] && messages[0].body == messages[1].body)
    for message in messages {
      #expect(message.head.hasPrefix("POST /hook?token=tttt1 HTTP/1.1"))
      let fields = message.head.components(separatedBy: "\r\n")
      let signature = try #require(fields.first { $0.hasPrefix("Upright-Signature: ") }).dropFirst(
        19)
      let time = try #require(Int(signature.dropFirst(2).prefix { $0 != "," }))
      let hash = Secrets.hash("\(time).\(message.body)", key: "0123456789abcdef")
      #expect(signature == "t=\(time),v1=" + hash)
      #expect(abs(time - Int(Date().timeIntervalSince1970)) < 60)
    }
    let listed = try await service.ask("GET", "/v1/webhooks")
    #expect(
      listed.json["webhooks"][0]["url"].string == "http://127.0.0.1:\(origin.port)/hook?token=***")
    #expect(
      !listed.text.contains("0123456789abcdef") && !service.log.lines.contains("0123456789abcdef"))
  }

  @Test(
    "A rejected message isn't retried; retries of a failing one end; both are counted as failed"
  )
  func failure() async throws {
    let origin = try EgressProxyTests.Origin { path in
      Self.answer(path.contains("unwanted") ? "404 No" : "500 Broken")
    }
    let service = try await Self.service(origin.port)
    for path in ["unwanted", "broken"] {
      try await service.ask(
        "POST", "/v1/webhooks",
        "{\"url\": \"http://127.0.0.1:\(origin.port)/\(path)\", \"events\": [\"state\"]}")
    }
    try await service.session()
    service.script.sessions[0].become(.live)
    #expect(try await waitUntil { service.service.webhookCounts.failed == 2 })
    let heads = origin.heads.withLock { $0 }
    #expect(heads.count { $0.contains("/unwanted") } == 1)
    #expect(heads.count { $0.contains("/broken") } == 3)
    #expect(
      try await service.ask("GET", "/metrics").text.contains(
        "upright_webhook_deliveries_total{outcome=\"failed\"} 2"))
  }

  @Test("The queue of a webhook is limited: further messages are dropped and counted")
  func bound() async throws {
    let origin = try EgressProxyTests.Origin { _ in
      usleep(300_000)
      return Self.answer("200 OK")
    }
    let service = try await Self.service(origin.port, waiting: 4)
    try await service.ask("POST", "/v1/webhooks", "{\"url\": \"http://127.0.0.1:\(origin.port)/\"}")
    try await service.session()
    for index in 0..<1000 {
      service.script.sessions[0].tell(.format(to: .portrait, from: Double(index)))
    }
    // The receiver would take five minutes for all.
    #expect(service.service.webhookCounts.dropped >= 900)
  }

  @Test("Webhooks of the API are restored after a restart, except removed ones")
  func kept() async throws {
    let origin = try EgressProxyTests.Origin { _ in Self.answer("200 OK") }
    let scratch = try Scratch()
    func start() async throws -> RunningService {
      try await RunningService(
        { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(origin.port)"] },
        scratch: scratch)
    }
    let first = try await start()
    var ids: [String] = []
    for path in ["kept", "removed"] {
      let made = try await first.ask(
        "POST", "/v1/webhooks",
        "{\"url\": \"http://127.0.0.1:\(origin.port)/\(path)\", \"events\": [\"state\"], \"secret\": \"0123456789abcdef\"}"
      )
      ids.append(try #require(made.json["id"].string))
    }
    #expect(try await first.ask("DELETE", "/v1/webhooks/\(ids[1])").status == 204)
    try await first.shutDown()
    let file = scratch.path("data/.upright/webhooks.json")
    let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
    #expect(rights as? Int == 0o600)

    let second = try await start()
    let listed = try await second.ask("GET", "/v1/webhooks").json["webhooks"].array
    #expect(listed.map { $0["id"].string } == [ids[0]])
    try await second.session()
    second.script.sessions[0].become(.live)
    #expect(try await waitUntil { second.service.webhookCounts.delivered == 1 })
    #expect(origin.heads.withLock { $0 }.last?.hasPrefix("POST /kept") == true)
    try await second.shutDown()

    try Data("[{".utf8).write(to: URL(fileURLWithPath: file))
    let third = try await start()
    #expect(try await third.ask("GET", "/v1/webhooks").json["webhooks"].array.isEmpty)
    #expect(third.log.lines.contains("can't read"))
    try await third.shutDown()
  }

  @Test("Redirects aren't followed, and unlisted hosts are rejected")
  func addresses() async throws {
    let inside = try EgressProxyTests.Origin { _ in Self.answer("200 OK") }
    let origin = try EgressProxyTests.Origin { _ in
      "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:\(inside.port)/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let service = try await Self.service(origin.port)
    for url in [
      "http://127.0.0.1:\(inside.port)/", "https://example.com/", "rtmp://127.0.0.1/live/x",
      "file:x",
      "http://user:pw@127.0.0.1:\(origin.port)/", "https://127.0.0.1:\(origin.port)/",
    ] {
      let answer = try await service.ask("POST", "/v1/webhooks", "{\"url\": \"\(url)\"}")
      #expect(answer.status == 422, "\(url)")
    }
    try await service.ask("POST", "/v1/webhooks", "{\"url\": \"http://127.0.0.1:\(origin.port)/\"}")
    try await service.session()
    service.script.sessions[0].become(.live)
    #expect(try await waitUntil { service.service.webhookCounts.failed == 1 })
    #expect(inside.heads.withLock { $0.isEmpty })
  }

  @Test("A receiver that doesn't answer fails after the timeout")
  func silence() async throws {
    // The kernel accepts the connections.
    let receiver = try Loopback.Listener()
    let service = try await Self.service(receiver.port, timeout: .milliseconds(100))
    let hook = try await Self.tell(service, receiver.port)
    #expect(try await waitUntil { service.service.webhookCounts.failed == 1 })
    let lines = service.log.lines.split(separator: "\n")
    let line = try #require(lines.first { $0.contains("webhook \(hook): can't deliver") })
    #expect(line.contains("Read timeout") && !line.contains("127.0.0.1"), "\(line)")
  }

  @Test("The body of an answer isn't read")
  func endlessAnswer() async throws {
    let receiver = try Loopback.Listener()
    let service = try await Self.service(receiver.port)
    _ = try await Self.tell(service, receiver.port)
    let most = 1 << 28
    let sent = try await RunningService.onThread {
      guard let client = receiver.accept() else { return most }
      defer { close(client) }
      _ = Self.receive(client) { $0.hasSuffix("}") }
      let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
      let part = head + [UInt8](repeating: 0, count: 1 << 16)
      var sent = 0
      while sent < most {
        let count = send(client, part, part.count, CInt(MSG_NOSIGNAL))
        if count <= 0 { break }
        sent += count
      }
      return sent
    }
    #expect(sent < most)
    #expect(try await waitUntil { service.service.webhookCounts.delivered == 1 })
  }

  @Test(
    "A request ends when its webhook is removed, and when the service stops",
    arguments: [true, false])
  func end(isRemoved: Bool) async throws {
    let receiver = try Loopback.Listener()
    let service = try await Self.service(receiver.port)
    let hook = try await Self.tell(service, receiver.port)
    let client = try #require(await RunningService.onThread { receiver.accept() })
    defer { close(client) }
    let request = try await RunningService.onThread {
      Self.receive(client) { $0.hasSuffix("}") }
    }
    #expect(request.hasSuffix("}"))
    if isRemoved {
      #expect(try await service.ask("DELETE", "/v1/webhooks/\(hook)").status == 204)
    } else {
      try await service.shutDown()
    }
    // Receives until the connection is closed.
    let rest = try await RunningService.onThread { Self.receive(client) { _ in false } }
    #expect(rest.isEmpty)
    #expect(service.service.webhookCounts.delivered == 0)
  }

  /// Receives text until `isEnough` returns `true`, the peer closes the connection, or 30 seconds pass without
  /// a byte, which adds "late".
  private static func receive(_ client: CInt, until isEnough: (String) -> Bool) -> String {
    var text = ""
    var bytes = [UInt8](repeating: 0, count: 65536)
    var limit = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(
      client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    while !isEnough(text) {
      let count = recv(client, &bytes, bytes.count, 0)
      if count < 0 { return text + "late" }
      if count == 0 { break }
      text += String(decoding: bytes[..<count], as: UTF8.self)
    }
    return text
  }

  @Test("A connection attempt doesn't delay the end of the service")
  func attempt() async throws {
    let resolver = SilentResolver()
    let service = try await RunningService { configuration, dependencies in
      configuration.allowHosts = ["hook.example"]
      dependencies.resolver = resolver
      dependencies.webhooks.timeout = .minutes(10)
    }
    try await service.ask("POST", "/v1/webhooks", "{\"url\": \"http://hook.example/\"}")
    try await service.session()
    service.script.sessions[0].become(.live)
    #expect(try await waitUntil { resolver.isAsked.withLock { $0 } })
    let hasEnded = Mutex(false)
    let end = Task {
      try await service.shutDown()
      hasEnded.withLock { $0 = true }
    }
    #expect(try await waitUntil { hasEnded.withLock { $0 } })
    end.cancel()
  }

  /// A resolver that doesn't answer.
  private final class SilentResolver: Resolver {
    let isAsked = Mutex(false)

    func addresses(of host: String) async throws(Refusal) -> [IPAddress] {
      isAsked.withLock { $0 = true }
      try? await Task.sleep(for: .seconds(3600))
      return []
    }
  }

  @Test("The end of a session called webhooks doesn't end the deliveries")
  func nameOfSession() async throws {
    let origin = try EgressProxyTests.Origin { _ in Self.answer("200 OK") }
    let service = try await Self.service(origin.port)
    try await service.session("webhooks")
    service.script.sessions[0].become(.ended)
    #expect(try await service.ask("DELETE", "/v1/sessions/webhooks").status == 204)
    _ = try await service.ask(
      "POST", "/v1/webhooks",
      "{\"url\": \"http://127.0.0.1:\(origin.port)/\", \"events\": [\"state\"]}")
    try await service.session()
    service.script.sessions[1].become(.live)
    #expect(try await waitUntil { service.service.webhookCounts.delivered == 1 })
  }

  @Test(
    "An invalid body gets 400",
    arguments: [
      "[]", "{}", "{\"url\": 1}", "{\"url\": \"http://127.0.0.1:1/\", \"events\": []}",
      "{\"url\": \"http://127.0.0.1:1/\", \"events\": [\"x\"]}",
      "{\"url\": \"http://127.0.0.1:1/\", \"secret\": \"short\"}",
      "{\"url\": \"http://127.0.0.1:1/\", \"more\": 1}",
    ])
  func wrong(_ body: String) async throws {
    let service = try await Self.service(1)
    #expect(try await service.ask("POST", "/v1/webhooks", body).status == 400)
  }
}
