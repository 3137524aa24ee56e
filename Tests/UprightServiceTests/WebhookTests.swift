import Foundation
import RotationPolicy
import Synchronization
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

@testable import UprightService

@Suite("Webhooks")
struct WebhookTests {
  private static func answer(_ status: String) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
  }

  /// Starts a service that allows webhooks to `port` and retries after a few milliseconds.
  private static func service(_ port: Int, waiting: Int = 256) async throws -> RunningService {
    try await RunningService { configuration, surroundings in
      configuration.allowHosts = ["127.0.0.1:\(port)"]
      surroundings.webhooks.delays = [.milliseconds(10), .milliseconds(20)]
      surroundings.webhooks.waiting = waiting
    }
  }

  /// HMAC-SHA-256 test cases of RFC 4231, 4.2 and 4.3.
  @Test("The hash of the signature")
  func hash() throws {
    func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    #expect(
      hex(try KeyedHash.sha256(Array("Hi There".utf8), key: [UInt8](repeating: 0x0B, count: 20)))
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      hex(try KeyedHash.sha256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
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
    // Each message is sent twice, because the proxy first requests a password. The origin receives one.
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
      let hash = try KeyedHash.sha256(
        Array("\(time).\(message.body)".utf8), key: Array("0123456789abcdef".utf8))
      #expect(signature == "t=\(time),v1=" + hash.map { String(format: "%02x", $0) }.joined())
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
    let begin = Date()
    for index in 0..<1000 {
      service.script.sessions[0].tell(.format(to: .portrait, from: Double(index)))
    }
    #expect(Date().timeIntervalSince(begin) < 2)
    #expect(service.service.webhookCounts.dropped >= 990)
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
      "http://user:pw@127.0.0.1:\(origin.port)/",
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
