import Foundation
import UprightPolicy
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Server-sent events of a session")
struct EventStreamTests {
  private static func open(
    _ service: RunningService, _ name: String = "one", last: Int? = nil, receiveBuffer: Int? = nil
  ) throws -> LocalConnection {
    let connection = try service.connection(receiveBuffer: receiveBuffer)
    let since = last.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    connection.send(
      "GET /v1/sessions/\(name)/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        + "Authorization: Bearer \(RunningService.token)\r\n\(since)\r\n")
    return connection
  }

  @Test("Decisions, phases, formats and states are sent as they happen; the end closes the stream")
  func live() async throws {
    let service = try await RunningService()
    try await service.session()
    let reader = try Self.open(service)
    let head = try await RunningService.onThread { reader.text(until: "event: state") }
    #expect(head.contains("text/event-stream") && head.contains("200 OK"))
    #expect(
      head.contains("\"state\":\"waiting\"")
        || reader.text(until: "\"waiting\"").contains("waiting"))
    service.script.sessions[0].become(.live)
    try await service.ask("POST", "/v1/sessions/one/events", "{\"device\": \"landscapeLeft\"}")
    service.script.sessions[0].tell(.format(to: .landscapeRight))
    service.script.sessions[0].become(.ended)
    let (bytes, isClosed) = try await RunningService.onThread { reader.receive(seconds: 10) }
    #expect(isClosed)
    let text = try Answer(bytes).text
    let kinds = text.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map {
      String($0.dropFirst(7))
    }
    #expect(kinds.first == "state" && kinds.last == "state")
    #expect(kinds.contains("decision") && kinds.contains("phase") && kinds.contains("format"))
    let numbers = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.compactMap {
      Int($0.dropFirst(4))
    }
    #expect(numbers == Array(1...numbers.count))
  }

  @Test("HEAD of the stream has its headers, ends at once, and leaves no reader")
  func head() async throws {
    let service = try await RunningService()
    try await service.session()
    let path = "/v1/sessions/one/events"
    for _ in 0..<65 {
      let answer = try await service.ask("HEAD", path)
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(answer.headers["content-type"] == "text/event-stream")
    }
    #expect(try await service.ask("HEAD", "/healthz").headers["content-length"] == "3")
  }

  @Test("A reader that reconnects gets the missed events once")
  func replay() async throws {
    let service = try await RunningService()
    try await service.session()
    let session = service.script.sessions[0]
    for index in 1...5 { session.tell(.format(to: .portrait, from: Double(index))) }
    let reader = try Self.open(service, last: 3)
    session.become(.ended)
    let text = try Answer(try await RunningService.onThread { reader.receive(seconds: 10).bytes })
      .text
    let ids = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0) }
    #expect(ids == ["id: 4", "id: 5", "id: 6"], "\(text)")
    #expect(!text.contains("gap"))
    let late = try Self.open(service, last: 6)
    let end = try Answer(try await RunningService.onThread { late.receive(seconds: 10).bytes })
    #expect(end.status == 200 && !end.text.contains("id: "))
  }

  @Test("The number of kept events is limited; a gap event reports dropped ones")
  func gap() async throws {
    let service = try await RunningService()
    try await service.session()
    let session = service.script.sessions[0]
    for index in 1...5000 { session.tell(.format(to: .portrait, from: Double(index))) }
    let reader = try Self.open(service, last: 10)
    session.become(.ended)
    let text = try Answer(try await RunningService.onThread { reader.receive(seconds: 20).bytes })
      .text
    // The reader may connect before the end is recorded.
    let first = text.contains("event: gap\ndata: {\"first\":3977}") ? 3977 : 3978
    #expect(text.contains("event: gap\ndata: {\"first\":\(first)}"), "\(text.prefix(300))")
    let ids = text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.compactMap {
      Int($0.dropFirst(4))
    }
    #expect(ids == Array(first...5001))
  }

  @Test("A stream without events gets heartbeats")
  func heartbeat() async throws {
    let service = try await RunningService { _, dependencies in
      dependencies.eventTimes.heartbeat = .milliseconds(50)
    }
    try await service.session()
    let reader = try Self.open(service)
    let text = try await RunningService.onThread { reader.text(until: ":\n\n\r\n3\r\n:\n\n") }
    #expect(text.contains(":\n\n\r\n3\r\n:\n\n"))
  }

  @Test("A client that doesn't read is disconnected and doesn't delay others", .long)
  func slow() async throws {
    let service = try await RunningService { _, dependencies in
      dependencies.eventTimes.stall = .milliseconds(400)
    }
    try await service.session()
    let session = service.script.sessions[0]
    let slow = try Self.open(service, receiveBuffer: 4096)
    _ = try await RunningService.onThread { slow.text(until: "event: state") }
    // Far more than the socket buffers can hold.
    let long = String(repeating: "x", count: 100_000)
    for _ in 0..<400 { session.tell(.state(.live, reason: long)) }
    let deadline = Date(timeIntervalSinceNow: 60)
    let feed = try service.service.sessions.find("one").feed
    while feed.readers > 0, Date() < deadline { try await Task.sleep(for: .milliseconds(20)) }
    #expect(feed.readers == 0)
    // Another reader is served.
    session.become(.ended)
    let other = try Self.open(service, last: feed.last - 1)
    let text = try Answer(try await RunningService.onThread { other.receive(seconds: 10).bytes })
      .text
    #expect(text.contains("\"ended\""))
  }

  @Test("The number of readers is limited")
  func readers() {
    let feed = SessionEventLog(capacity: 4, maxReaders: 2)
    let first = feed.subscribe()
    let second = feed.subscribe()
    #expect(first != nil && second != nil && feed.subscribe() == nil)
  }

  @Test("A reader that begins at the oldest event isn't lost by the next one")
  func oldest() {
    let feed = SessionEventLog(capacity: 4)
    for index in 1...9 { feed.append("x", .integer(index)) }
    let start = feed.oldest
    feed.append("x", .integer(10))
    guard case .events(let events) = feed.read(after: start) else { return #expect(Bool(false)) }
    #expect(events.map(\.number) == [6, 7, 8, 9, 10])
  }

  @Test("A feed keeps the latest events in order, and reports lost ones")
  func ring() {
    let feed = SessionEventLog(capacity: 4)
    #expect(feed.read(after: 0) == .events([]))
    for index in 1...20 { feed.append("x", .integer(index)) }
    #expect(feed.last == 20 && feed.oldest == 16)
    #expect(feed.read(after: 15) == .lost)
    guard case .events(let events) = feed.read(after: 16) else { return #expect(Bool(false)) }
    #expect(
      events.map(\.number) == [17, 18, 19, 20] && events.map(\.data) == ["17", "18", "19", "20"])
    #expect(feed.read(after: 16, limit: 2) == .events(Array(events.prefix(2))))
    feed.end()
    feed.append("x", .null)
    #expect(feed.last == 20 && feed.read(after: 20) == .ended)
  }
}
