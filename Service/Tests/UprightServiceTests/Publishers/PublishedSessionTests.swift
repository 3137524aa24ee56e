import Foundation
import NIOCore
import UprightPolicy
import Synchronization
import Testing
import UprightServiceTestSupport

@testable import UprightLive
@testable import UprightMediaIO
@testable import UprightRTMP
@testable import UprightService

extension RunningService {
  /// Starts a service whose configuration has these sessions, which are JSON.
  static func declaring(
    _ sessions: String..., onPublish: String? = nil,
    change: (inout ServiceConfiguration, inout UprightService.Dependencies) -> Void = { _, _ in },
    make: MakeSession? = nil
  ) async throws -> RunningService {
    let entries = try sessions.map { try JSONValue(parsing: Data($0.utf8)) }
    let hook = try onPublish.map { try JSONValue(parsing: Data($0.utf8)) }
    return try await RunningService(
      { configuration, dependencies in
        configuration.sessions = entries
        configuration.onPublish = hook
        change(&configuration, &dependencies)
      }, make: make)
  }

  /// The names of all sessions, sorted.
  var names: [String] {
    get async throws {
      try await ask("GET", "/v1/sessions").json["sessions"].array.compactMap { $0["id"].string }
        .sorted()
    }
  }
}

@Suite("Sessions that publishers create")
struct PublishedSessionTests {
  private static let key = "key-of-all-publishers"

  /// A template at `port`.
  private static func template(_ port: Int, _ name: String = "live/*", more: String = "") -> String
  {
    "{\"name\": \"\(name)\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)\"}\(more)}"
  }

  @Test(
    "A publisher gets a session named after its stream; a second one is rejected, and it may return"
  )
  func life() async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService.declaring(
      Self.template(
        port,
        more: """
          , "key": "\(Self.key)", "inputTimeout": 7, "playback": "signed", "policy": "phone",
            "outputs": [{"type": "hls"}, {"type": "rtmp", "url": "rtmp://127.0.0.1:9/upright/{name}"},
                        {"type": "file", "name": "{name}-take.mp4"}]
          """))
    #expect(try await service.names.isEmpty)
    let (first, status) = try await RTMPClient.publish("cam?key=\(Self.key)", at: port)
    #expect(status?.isStart == true, "\(String(describing: status))")
    let shown = try await service.ask("GET", "/v1/sessions/cam", token: Self.key)
    #expect(shown.status == 200, "\(shown.text)")
    #expect(shown.json["input"]["url"].string == "rtmp://127.0.0.1:\(port)/live/***")
    #expect(shown.json["playback"].string == "signed")
    #expect(shown.json["outputs"][1]["url"].string == "rtmp://127.0.0.1:9/upright/***")
    #expect(shown.json["outputs"][2]["name"].string == "cam-take.mp4")
    let made = service.script.sessions[0].configuration
    #expect(made.inputTimeout == 7 && !made.waitsForPublisher)
    #expect(made.outputs[1] == .push(url: "rtmp://127.0.0.1:9/upright/cam"))
    let turned = try await service.ask(
      "POST", "/v1/sessions/cam/events", "{\"device\": \"landscapeLeft\"}", token: Self.key)
    #expect(turned.status == 200, "\(turned.text)")

    let second = try await RTMPClient.publish("cam?key=\(Self.key)", at: port).status
    #expect(
      second
        == .init(code: "NetStream.Publish.BadName", reason: "the stream already has a publisher"))
    let wrong = try await RTMPClient.publish("cam?key=\(Self.key)x", at: port).status
    #expect(wrong == .init(code: "NetStream.Publish.Denied", reason: "the key is wrong"))
    let other = try await RTMPClient.publish("cam?key=\(Self.key)", app: "tv", at: port).status
    #expect(
      other == .init(code: "NetStream.Publish.BadName", reason: "no session expects this stream"))
    // The first publisher isn't disturbed.
    #expect(first.status(seconds: 0.1) == nil)
    let another = try await RTMPClient.publish("dog", app: "live?key=\(Self.key)", at: port)
    #expect(another.status?.isStart == true)
    #expect(try await service.names == ["cam", "dog"])

    // A publisher that returns continues its session.
    first.leave()
    #expect(
      try await waitUntil { service.log.lines.contains("session cam: publisher disconnected") })
    let again = try await RTMPClient.publish("cam?key=\(Self.key)", at: port)
    #expect(again.status?.isStart == true, "\(String(describing: again.status))")
    #expect(service.script.sessions.count == 2)
    // After its end, the name is free.
    service.script.sessions[0].become(.ended, reason: "no input")
    again.client.leave()
    #expect(
      try await waitUntil {
        try await RTMPClient.publish("cam?key=\(Self.key)", at: port).status?.isStart == true
      })
    #expect(service.script.sessions.count == 3)
    #expect(!service.log.lines.contains(Self.key))
    try await service.shutDown()
    #expect(throws: LocalConnection.Failure.self) { try LocalConnection(port: port) }
  }

  @Test("The hook is asked once per publisher, signed; its answer is the session's body")
  func hook() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { request in
      switch request.json["name"].string {
      case "plain": .status("204 No Content")
      case "streamkey":
        .status(
          "200 OK",
          "{\"name\": \"stage\", \"outputs\": [{\"type\": \"file\", \"name\": \"{name}.mp4\"}]}")
      default: .status("403 Forbidden", "{\"never\": \"read\"}")
      }
    }
    let service = try await RunningService.declaring(
      Self.template(port, more: ", \"options\": {\"size\": \"720p\"}"),
      onPublish:
        "{\"url\": \"http://127.0.0.1:\(hook.port)/in?token=tttt1\", \"secret\": \"0123456789abcdef\"}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }

    let plain = try await RTMPClient.publish("plain?key=one%20time%2fkey", at: port, source: 7)
    #expect(plain.status?.isStart == true, "\(String(describing: plain.status))")
    let request = try #require(hook.requests.first)
    #expect(request.head.hasPrefix("POST /in?token=tttt1 HTTP/1.1"))
    #expect(
      request.json
        == .object([
          "name": .string("plain"), "app": .string("live"), "key": .string("one time/key"),
          "address": .string("127.0.0.7"), "protocol": .string("rtmp"),
        ]), "\(request.body)")
    let signature = try #require(request.field("Upright-Signature"))
    let time = try #require(Int(signature.dropFirst(2).prefix { $0 != "," }))
    let hash = Secrets.hash("\(time).\(request.body)", key: "0123456789abcdef")
    #expect(signature == "t=\(time),v1=\(hash)" && request.field("Upright-Delivery") != nil)
    #expect(service.script.sessions.last?.configuration.options.size == .pair(.init(720, 1280)))

    // The answer's name is the session's; the stream's name may be a secret. The key that a publisher was let in
    // with is a token for its session only.
    let named = try await RTMPClient.publish("streamkey?key=12345678", at: port)
    #expect(named.status?.isStart == true, "\(String(describing: named.status))")
    #expect(try await service.names == ["plain", "stage"])
    let stage = try await service.ask("GET", "/v1/sessions/stage", token: "12345678")
    #expect(stage.json["outputs"][0]["name"].string == "stage.mp4", "\(stage.text)")
    #expect(try await service.ask("GET", "/v1/sessions/plain", token: "12345678").status == 401)
    // Another publisher is asked about too, although the session has one.
    #expect(try await RTMPClient.publish("streamkey", at: port).status?.isBadName == true)

    let refused = try await RTMPClient.publish("other?key=secret-of-other", at: port).status
    #expect(
      refused
        == .init(
          code: "NetStream.Publish.Denied", reason: "the publish hook refused: it answered 403"))
    #expect(
      hook.requests.map { $0.json["name"].string } == ["plain", "streamkey", "streamkey", "other"])
    for secret in [
      "one time", "12345678", "secret-of-other", "0123456789abcdef", "tttt1", "streamkey",
    ] {
      #expect(!service.log.lines.contains(secret), "\(secret)")
    }
    try await service.shutDown()
  }

  private static let wrongAnswers: [(name: String, answer: HookServer.Answer, reason: String)] = [
    ("broken", .status("500 Broken"), "the publish hook refused: it answered 500"),
    (
      "redirect", .status("307 Elsewhere", fields: "Location: http://127.0.0.1:9/\r\n"),
      "the publish hook refused: it answered 307"
    ),
    (
      "large", .status("200 OK", String(repeating: " ", count: 10 << 20)),
      "the publish hook refused: the answer is larger than 262144 bytes"
    ),
    (
      "endless",
      .drip(
        Array(repeating: 32, count: 65536), head: Array("HTTP/1.1 200 OK\r\n\r\n".utf8), every: 0),
      "the publish hook refused: the answer is larger than 262144 bytes"
    ),
    ("silent", .silence, "the publish hook refused: it didn't answer within 3.0 s"),
    (
      "slow",
      .drip([32], head: Array("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n".utf8), every: 0.02),
      "the publish hook refused: it didn't answer within 3.0 s"
    ),
    (
      "text", .status("200 OK", "yes"), "the publish hook refused: its answer isn't a JSON object"
    ),
    ("array", .status("200 OK", "[]"), "the publish hook refused: its answer isn't a JSON object"),
    (
      "garbage", .bytes(Array("\0\u{1}\r\n\r\n".utf8)),
      "the publish hook refused: the connection failed"
    ),
    ("nothing", .bytes([]), "the publish hook refused: "),
    ("unknown", .status("200 OK", "{\"nonsense\": 1}"), "the session can't be created"),
    (
      "policy", .status("200 OK", "{\"policy\": {\"semantics\": \"ios99\"}}"),
      "the session can't be created"
    ),
    (
      "option", .status("200 OK", "{\"options\": {\"size\": \"huge\"}}"),
      "the session can't be created"
    ),
    (
      "input", .status("200 OK", "{\"input\": {\"url\": \"file:/etc/passwd\"}}"),
      "the session can't be created"
    ),
    ("name", .status("200 OK", "{\"name\": \"../x\"}"), "the session can't be created"),
    (
      "address",
      .status(
        "200 OK",
        "{\"outputs\": [{\"type\": \"rtmp\", \"url\": \"rtmp://169.254.169.254/live/kkkk\"}]}"),
      "the session can't be created"
    ),
  ]

  /// Costs the timeout, three seconds.
  @Test("A hook that misbehaves refuses its publisher with the reason, and harms no other", .long)
  func wrongAnswers() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { request in
      let name = request.json["name"].string
      return Self.wrongAnswers.first { $0.name == name }?.answer ?? .status("200 OK", "{}")
    }
    let service = try await RunningService.declaring(
      Self.template(port),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\", \"timeout\": 3}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }
    let good = try await RTMPClient.publish("good?key=key-of-good", at: port)
    #expect(good.status?.isStart == true, "\(String(describing: good.status))")
    // At the same time.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, _, reason) in Self.wrongAnswers {
        group.addTask {
          let (client, status) = try await RTMPClient.publish(
            "\(name)?key=key-of-\(name)", at: port)
          #expect(
            status?.isDenied == true && status?.reason.hasPrefix(reason) == true,
            "\(name): \(String(describing: status))")
          #expect(try await RunningService.onThread { client.connection.receive().isClosed })
        }
      }
      try await group.waitForAll()
    }
    #expect(hook.requests.count == Self.wrongAnswers.count + 1)
    #expect(try await waitUntil { hook.endedConnections == hook.requests.count })
    #expect(try await service.names == ["good"])
    #expect(good.client.status(seconds: 0.1) == nil)
    #expect(!service.log.lines.contains("key-of-"))
    for text in ["unknown member nonsense", "ios99", "huge", "a link-local address"] {
      #expect(service.log.lines.contains(text), "\(text)")
    }
    try await service.shutDown()
  }

  @Test("A hook that can't be reached refuses")
  func unreachable() async throws {
    let (port, other) = (try Loopback.freeTCPPort(), try Loopback.freeTCPPort())
    let service = try await RunningService.declaring(
      Self.template(port, more: ", \"onPublish\": {\"url\": \"http://127.0.0.1:\(other)/\"}"),
      Self.template(port, "tv/*", more: ", \"onPublish\": {\"url\": \"https://hook.example/\"}")
    ) { configuration, dependencies in
      configuration.allowHosts = ["127.0.0.1:\(other)", "hook.example"]
      dependencies.resolver = EgressProxyTests.StubResolver(["hook.example": [["10.0.0.8"]]])
    }
    for app in ["live", "tv"] {
      let status = try await RTMPClient.publish("cam", app: app, at: port).status
      #expect(
        status
          == .init(
            code: "NetStream.Publish.Denied",
            reason: "the publish hook refused: no connection to the receiver"))
    }
    #expect(try await service.names.isEmpty)
    try await service.shutDown()
  }

  @Test("Of publishers that race for a name, exactly one gets in")
  func race() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { _ in .status("200 OK") }
    let service = try await RunningService.declaring(
      Self.template(port), onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\"}"
    ) { configuration, _ in
      configuration.allowHosts = ["127.0.0.1:\(hook.port)"]
      configuration.maxSessions = 100
    }
    for round in 0..<10 {
      let clients = try await withThrowingTaskGroup(of: (RTMPClient, RTMPClient.Status?).self) {
        group in
        for _ in 0..<4 {
          group.addTask { try await RTMPClient.publish("cam\(round)", at: port) }
        }
        var all: [(RTMPClient, RTMPClient.Status?)] = []
        for try await one in group { all.append(one) }
        return all
      }
      #expect(clients.count { $0.1?.isStart == true } == 1, "\(clients.map(\.1))")
      #expect(clients.count { $0.1?.isBadName == true } == 3, "\(clients.map(\.1))")
    }
    #expect(service.script.sessions.count == 10 && hook.requests.count == 40)
    try await service.shutDown()
  }

  static let names: [(name: String, app: String)] = [
    ("a/b", "live"), ("..", "live"), (".hidden", "live"), ("-x", "live"), ("a b", "live"),
    ("a%2Fb", "live"), ("%2e%2e", "live"), ("a\u{0}b", "live"), ("a\nb", "live"),
    ("a\u{1B}[31m", "live"), ("ü", "live"), (String(repeating: "a", count: 65), "live"),
    (String(repeating: "a", count: 4096), "live"), ("", "live"), ("*", "live"), ("{name}", "live"),
    ("cam", "live/.."), ("cam", "a b"), ("cam", String(repeating: "a/", count: 200) + "a"),
    ("cam?key=" + String(repeating: "k", count: 5000), "live"), ("", ""),
  ]

  @Test("Names, apps and keys that aren't valid are rejected, and the hook isn't asked")
  func names() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { _ in .status("200 OK") }
    let service = try await RunningService.declaring(
      Self.template(port), Self.template(port, "*"),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\"}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }
    for (name, app) in Self.names {
      let status = try await RTMPClient.publish(name, app: app, at: port).status
      // Without a name, the app is the name.
      let isFine = name.isEmpty && app == "live" || name == "a/b"
      #expect(
        status?.isStart == isFine,
        "\(name.prefix(20)), \(app.prefix(20)): \(String(describing: status))")
      #expect(isFine || status?.isBadName == true)
    }
    #expect(try await service.names == ["b", "live"])
    #expect(hook.requests.map { $0.json["app"].string } == ["live/a", ""])
    #expect(!service.log.lines.contains("\u{1B}") && !service.log.lines.contains("aaaaaa"))
    try await service.shutDown()
  }

  @Test("A pattern that matches everything shadows no declared session; the first pattern is used")
  func everything() async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService.declaring(
      Self.template(port, "*", more: ", \"key\": \"key-of-everything\""),
      "{\"name\": \"stage\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-of-stage\"}}",
      Self.template(port, "live/*"),
      "{\"name\": \"second\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-of-second\"}}"
    )
    let key = "?key=key-of-everything"
    #expect(try await service.names == ["second", "stage"])
    let declared = try await RTMPClient.publish("key-of-stage", at: port)
    #expect(declared.status?.isStart == true)
    #expect(service.log.lines.contains("session stage: publisher connected"))
    #expect(try await RTMPClient.publish("cam", at: port).status?.reason == "the key is wrong")
    #expect(
      try await RTMPClient.publish("cam" + key, app: "any/app", at: port).status?.isStart == true)
    // Names and keys of declared sessions are theirs, also when they have ended.
    service.script.sessions[1].become(.ended)
    _ = try await service.ask("DELETE", "/v1/sessions/second")
    for name in ["stage", "second", "key-of-stage", "key-of-second"] {
      let status = try await RTMPClient.publish(name + key, app: "tv", at: port).status
      #expect(
        status
          == .init(
            code: "NetStream.Publish.BadName",
            reason: "a session of the configuration has this name"), "\(name)")
    }
    // A session of the API keeps its name too.
    try await service.session("api")
    let taken = try await RTMPClient.publish("api" + key, at: port).status
    #expect(
      taken == .init(code: "NetStream.Publish.BadName", reason: "another session has this name"))
    #expect(try await service.names == ["api", "cam", "stage"])
    try await service.shutDown()
  }

  @Test("A hundred publishers at once: the hook is asked once for each, and none is lost")
  func crowd() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { _ in
      usleep(50_000)
      return .status("200 OK")
    }
    let service = try await RunningService.declaring(
      Self.template(port),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\", \"timeout\": 60}"
    ) { configuration, _ in
      configuration.allowHosts = ["127.0.0.1:\(hook.port)"]
      configuration.maxSessions = 90
    }
    let results = try await withThrowingTaskGroup(of: (RTMPClient, RTMPClient.Status?).self) {
      group in
      for index in 0..<100 {
        group.addTask { try await RTMPClient.publish("cam\(index)", at: port) }
      }
      var all: [(RTMPClient, RTMPClient.Status?)] = []
      for try await result in group { all.append(result) }
      return all
    }
    #expect(results.count { $0.1?.isStart == true } == 90)
    let refused = RTMPClient.Status(
      code: "NetStream.Publish.Denied", reason: "90 sessions are already running")
    #expect(results.count { $0.1 == refused } == 10, "\(results.map(\.1))")
    let asked = hook.requests.compactMap { $0.json["name"].string }
    #expect(asked.count == 100 && Set(asked).count == 100)
    #expect(service.script.sessions.count == 90)
    try await service.shutDown()
  }

  @Test("A publisher that leaves while the hook is asked ends the request, and gets no session")
  func leaves() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { $0.json["name"].string == "gone" ? .silence : .status("200 OK") }
    let service = try await RunningService.declaring(
      Self.template(port),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\", \"timeout\": 60}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }
    for count in 1...3 {
      let client = try await RunningService.onThread {
        let client = try RTMPClient(port: port)
        client.ask("gone")
        return client
      }
      #expect(try await waitUntil { hook.requests.count == count })
      #expect(hook.endedConnections == count - 1)
      client.leave()
      #expect(try await waitUntil { hook.endedConnections == count })
    }
    #expect(try await service.names.isEmpty && service.script.sessions.isEmpty)
    #expect(try await RTMPClient.publish("next", at: port).status?.isStart == true)
    try await service.shutDown()
  }

  @Test("While the hook is asked the stream is bounded, and nothing of it is lost")
  func early() async throws {
    let port = try Loopback.freeTCPPort()
    let isOpen = Mutex(false)
    let hook = try HookServer { _ in
      while !isOpen.withLock({ $0 }) { usleep(5000) }
      return .status("200 OK")
    }
    let service = try await RunningService.declaring(
      Self.template(port),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\", \"timeout\": 60}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }
    let frame = RTMPMessage(
      .video, stream: 1, payload: [0x17, 1] + [UInt8](repeating: 5, count: 1_000_000))
    let client = try await RunningService.onThread {
      let client = try RTMPClient(port: port)
      client.ask("cam")
      return client
    }
    #expect(try await waitUntil { hook.requests.count == 1 })
    var writer = ChunkWriter()
    // More than the kernel holds for both ends of a connection.
    let count = 30
    let bytes = (0..<count).flatMap { _ in writer.bytes(of: frame, on: 3) }
    var sent = 0
    for _ in 0..<30 {
      sent += client.connection.sendNow(Array(bytes[sent...]))
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(sent > 0 && sent < bytes.count * 3 / 4, "\(sent) of \(bytes.count)")
    isOpen.withLock { $0 = true }
    let rest = Array(bytes[sent...])
    async let status = RunningService.onThread {
      client.connection.send(rest)
      return client.status()
    }
    #expect(try await waitUntil { service.script.sessions.count == 1 })
    guard case .published(let feed)? = service.script.sessions.first?.configuration.input else {
      Issue.record("no feed")
      return
    }
    // The header of FLV, and 15 bytes around each tag. A session reads them.
    let expected = 13 + count * (frame.payload.count + 15)
    let read = try await RunningService.onThread {
      guard let pipe = feed.next(Interrupt())?.pipe else { return 0 }
      var total = 0
      while total < expected, let bytes = pipe.take() { total += bytes.count }
      return total
    }
    #expect(read == expected)
    #expect(try await status?.isStart == true)
    try await service.shutDown()
  }

  @Test("A shutdown while the hook is asked rejects the publisher")
  func shutdown() async throws {
    let port = try Loopback.freeTCPPort()
    let hook = try HookServer { _ in .silence }
    let service = try await RunningService.declaring(
      Self.template(port),
      onPublish: "{\"url\": \"http://127.0.0.1:\(hook.port)/\", \"timeout\": 60}"
    ) { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(hook.port)"] }
    async let asked = RTMPClient.publish("cam", at: port)
    #expect(try await waitUntil { hook.requests.count == 1 })
    // The hook's timeout is a minute.
    try await service.shutDown()
    let (client, status) = try await asked
    #expect(status?.isDenied == true, "\(String(describing: status))")
    #expect(try await RunningService.onThread { client.connection.receive().isClosed })
    #expect(try await waitUntil { hook.endedConnections == 1 })
  }
}
