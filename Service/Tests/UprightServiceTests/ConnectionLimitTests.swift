import Foundation
import NIOCore
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
