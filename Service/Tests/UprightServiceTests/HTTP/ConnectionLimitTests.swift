import Foundation
import NIOCore
import NIOEmbedded
import Testing
import UprightServiceTestSupport

@testable import UprightService

/// Limits on connections, events and request bodies.
@Suite struct ConnectionLimitTests {
  @Test(
    "A peer with the maximum number of idle connections doesn't block others; they are closed")
  func idle() async throws {
    let service = try await RunningService { configuration, dependencies in
      configuration.maxConnections = 8
      dependencies.requestTimeout = .milliseconds(500)
    }
    let port = service.service.port ?? 0
    let idle = try (0..<16).map { _ in try LocalConnection(port: port) }
    // The idle connections are closed, because they sent no request.
    #expect(try await waitUntil { (try? await service.ask("GET", "/healthz").status) == 200 })
    for connection in idle { #expect(connection.receive(seconds: 5).bytes.isEmpty) }
  }

  @Test("The limit per peer and the total limit of connections")
  func share() {
    let limit = PeerLimit(perPeer: 2, total: 3)
    let entered = ["a", "a", "a", "b", "b"].map { limit.enter($0) }
    #expect(entered == [true, true, false, true, false])
    limit.leave("a")
    #expect(limit.enter("b") == true)
  }

  /// A request without its end of line, the start of the only response, and whether the connection is closed.
  static let requests: [(request: String, answers: [String], isClosed: Bool)] = [
    (
      "POST /v1/sessions HTTP/1.1|Host: a|Authorization: TOKEN|Expect: 100-continue|Content-Length: 2||",
      ["100 Continue"], false
    ),
    ("GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: chunked||2|ok|0||", ["200 OK"], false),
    (
      "POST /v1/sessions HTTP/1.1|Host: a|Authorization: TOKEN|Transfer-Encoding: chunked||zz|",
      ["400"], true
    ),
    ("GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: chunked||zz|", ["400"], true),
    (
      "GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: gzip||GET /readyz HTTP/1.1|Host: a||",
      ["400"], true
    ),
    ("GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: gzip, chunked||0||", ["400"], true),
    (
      "GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: chunked|Content-Length: 2||0||", ["400"],
      true
    ),
    ("GET /healthz HTTP/1.1||", ["400"], true),
    ("GET /healthz HTTP/1.1|Host: a|Host: b||", ["400"], true),
    ("GET /healthz HTTP/1.0||", ["200 OK"], true), ("NOT A REQUEST||", ["400"], true),
    // A body that nobody needs.
    ("POST /v1/sessions HTTP/1.1|Host: a|Content-Length: 9||{", ["401"], true),
    ("GET /healthz HTTP/1.1|Host: a|Transfer-Encoding: chunked||1|x|", ["200 OK"], true),
    (
      "GET /healthz HTTP/1.1|Host: a||GET /readyz HTTP/1.1|Host: a||", ["200 OK", "200 OK"], false
    ),
    // A body that doesn't end.
    (
      "POST /v1/sessions HTTP/1.1|Host: a|Authorization: TOKEN|Content-Length: 9||{", ["408"], true
    ),
  ]

  @Test("What a request gets that is malformed, waits, or doesn't end", arguments: requests)
  func request(_ text: String, _ answers: [String], _ isClosed: Bool) async throws {
    let service = try await RunningService { _, dependencies in
      dependencies.requestTimeout = .milliseconds(800)
    }
    let connection = try LocalConnection(port: service.service.port ?? 0)
    let (bytes, hasEnded) = try await RunningService.onThread {
      connection.send(
        text.replacing("|", with: "\r\n").replacing("TOKEN", with: "Bearer \(RunningService.token)")
      )
      return connection.receive(seconds: isClosed ? 10 : 0.5)
    }
    let found = String(decoding: bytes, as: UTF8.self).components(separatedBy: "HTTP/1.1 ")
      .dropFirst()
    #expect(found.count == answers.count && hasEnded == isClosed, "\(found)")
    for (one, start) in zip(found, answers) { #expect(one.hasPrefix(start), "\(found)") }
  }

  @Test("Many connections of two addresses leave room for others, whatever they send")
  func flood() async throws {
    let service = try await RunningService { configuration, dependencies in
      configuration.maxConnections = 32
      dependencies.requestTimeout = .seconds(10)
    }
    let port = service.service.port ?? 0
    let starts = [
      "", "GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
      "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
    var held: [LocalConnection] = []
    for index in 0..<100 {
      let connection = try LocalConnection(port: port, source: UInt32(2 + index % 2))
      connection.send(starts[index % starts.count])
      held.append(connection)
      if index % 10 == 9 { #expect(try await service.ask("GET", "/healthz").status == 200) }
    }
    // NIO stops the process if a server ends while a connection is being accepted.
    for connection in held { connection.shutDown() }
    try await Task.sleep(for: .milliseconds(300))
  }

  @Test("A new connection takes the place of an idle one of the peer that has the most")
  func places() throws {
    let connections = OpenConnections(limit: 4)
    let channels = (0..<8).map { _ in EmbeddedChannel() }
    for channel in channels {
      try channel.connect(to: SocketAddress(unixDomainSocketPath: "/a")).wait()
    }
    for index in 0..<4 { #expect(connections.enter(channels[index], from: index < 3 ? "a" : "b")) }
    connections.serve(channels[0], from: "a", true)
    #expect(connections.enter(channels[4], from: "c"))
    #expect(channels.map(\.isActive) == [true, false, true, true, true, true, true, true])
    // Now a has two, b one and c one: the peer with the most gives up one of its own.
    connections.serve(channels[2], from: "a", true)
    #expect(!connections.enter(channels[5], from: "a"))
    #expect(connections.enter(channels[6], from: "d") && !channels[0].isActive)
    connections.leave(channels[6], from: "d")
    #expect(connections.enter(channels[7], from: "a"))
  }

  @Test("Connections from one IPv6 network count as one peer")
  func network() throws {
    let peers = try [
      "2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1", "::ffff:10.0.0.1", "10.0.0.1",
    ]
    .map { IPAddress.peer(of: try SocketAddress(ipAddress: $0, port: 1)) }
    #expect(peers[0] == peers[1] && peers[1] != peers[2] && peers[3] == peers[4])
    #expect(Set(peers).count == 3)
  }

  @Test("A session accepts 1000 events per second, and bursts of 2000")
  func events() {
    let start = ContinuousClock.now
    let budget = EventBudget(now: start)
    let taken = [0, 0, 0, 1, 1, 60].map { budget.take(1000, now: start + .seconds($0)) }
    #expect(taken == [true, true, false, true, false, true])
  }

  @Test("A body that is too long gets 413, and the connection is closed")
  func long() async throws {
    let service = try await RunningService { configuration, _ in configuration.bodyLimit = 1000 }
    let connection = try LocalConnection(port: service.service.port ?? 0)
    let bytes = try await RunningService.onThread {
      connection.send(
        "POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(RunningService.token)\r\n"
          + "Content-Length: 1000000\r\n\r\n" + String(repeating: " ", count: 2000))
      return connection.receive(seconds: 20).bytes
    }
    let answer = try Answer(bytes)
    #expect(answer.status == 413, "\(answer.text)")
  }

  @Test("Eight concurrent requests for sessions at a new port succeed")
  func parallel() async throws {
    let service = try await RunningService()
    for _ in 0..<5 {
      let port = try Loopback.freeTCPPort()
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<8 {
          group.addTask {
            try await service.ask(
              "POST", "/v1/sessions",
              "{\"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-number-\(index)\"}, \"outputs\": [{\"type\": \"hls\"}]}"
            ).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.allSatisfy { $0 == 201 || $0 == 429 }, "\(statuses)")
      for session in try await service.ask("GET", "/v1/sessions").json["sessions"].array {
        try await service.ask("DELETE", "/v1/sessions/\(session["id"].string ?? "")")
      }
    }
  }
}
