import Foundation
import UprightPolicy
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Invalid requests")
struct RequestTests {
  /// Method, path, allowed methods of the path.
  static let methods = [
    ("DELETE", "/v1/sessions", "GET, HEAD, POST"),
    ("PUT", "/v1/sessions/x", "DELETE, GET, HEAD, PATCH"),
    ("PATCH", "/v1/sessions/x/events", "GET, HEAD, POST"), ("POST", "/healthz", "GET, HEAD"),
    ("DELETE", "/metrics", "GET, HEAD"), ("PUT", "/live/a/index.m3u8", "GET, HEAD, OPTIONS"),
    ("GET", "/v1/webhooks/x", "DELETE"), ("DELETE", "/v1/webhooks", "GET, HEAD, POST"),
  ]

  @Test("An unsupported method gets 405 with the allowed methods", arguments: methods)
  func method(_ method: String, _ path: String, _ allowed: String) async throws {
    let service = try await RunningService()
    let answer = try await service.ask(method, path)
    #expect(answer.status == 405 && answer.headers["allow"] == allowed, "\(answer.headers)")
    #expect(answer.headers["content-type"] == "application/problem+json")
    #expect(answer.json["status"].int == 405 && answer.json["detail"].string != nil)
    // Without a token, the response doesn't reveal the methods.
    #expect(try await service.ask(method, path, token: nil).status == 401)
  }

  @Test(
    "An unknown path gets 404", arguments: ["/v1", "/v1/sessions/a/b/c", "/x", "/live"])
  func path(_ path: String) async throws {
    let service = try await RunningService()
    let answer = try await service.ask("GET", path)
    #expect(answer.status == 404 && answer.headers["allow"] == nil)
  }

  /// Method, path, body, token, status.
  static let table: [(String, String, String?, String?, Int)] = [
    ("POST", "/v1/sessions", "{}", nil, 401), ("POST", "/v1/sessions", "{}", "wrong", 401),
    ("POST", "/v1/sessions", "{\"input\": ", RunningService.token, 400),
    ("POST", "/v1/sessions", "[]", RunningService.token, 400),
    ("POST", "/v1/sessions", "\u{0}\u{1}", RunningService.token, 400),
    ("POST", "/v1/sessions", String(repeating: "[", count: 100_000), RunningService.token, 400),
    ("POST", "/v1/sessions", String(repeating: " ", count: 2 << 20), RunningService.token, 413),
    ("POST", "/v1/sessions/nobody/events", "{\"device\": \"portrait\"}", RunningService.token, 404),
    ("DELETE", "/v1/sessions/..%2F..%2Fetc", nil, RunningService.token, 404),
    ("GET", "/live/..%2F..%2F.upright/token", nil, nil, 404),
    ("GET", "/live/../.upright/token", nil, nil, 404),
  ]

  @Test("Invalid requests get the right status and a problem with a detail")
  func statuses() async throws {
    let service = try await RunningService()
    for (method, path, body, token, status) in Self.table {
      let answer = try await service.ask(method, path, body, token: token)
      #expect(answer.status == status, "\(method) \(path): \(answer.status) \(answer.text)")
      #expect(answer.json["detail"].string?.isEmpty == false, "\(method) \(path)")
      #expect(!answer.text.contains(RunningService.token))
    }
    #expect(try await service.ask("GET", "/healthz", token: nil).status == 200)
  }

  @Test("Events for an ended session get 409")
  func over() async throws {
    let service = try await RunningService()
    try await service.session()
    service.script.sessions[0].become(.ended)
    let answer = try await service.ask(
      "POST", "/v1/sessions/one/events", "{\"device\": \"portrait\"}")
    #expect(answer.status == 409 && answer.json["detail"].string == "the session has ended")
  }

  @Test("Names with paths are rejected, so that nothing is written outside the data folder")
  func names() async throws {
    let service = try await RunningService()
    for name in ["../take.mp4", "/tmp/take.mp4", "a/../../take.mp4", "..", ".hidden.mp4"] {
      let more = ", \"outputs\": [{\"type\": \"file\", \"name\": \"\(name)\"}]"
      #expect(try await service.session("one", more).status == 422, "\(name)")
      #expect(try await service.session(name).status == 400, "\(name)")
    }
  }

  @Test("The size of the kept events is limited too, but the last one is always kept")
  func feed() {
    let feed = SessionEventLog(capacity: 1000, maxBytes: 1000)
    for index in 1...50 { feed.append("x", .string(String(repeating: "\(index % 10)", count: 98))) }
    #expect(feed.last == 50 && feed.oldest >= 40)
    guard case .events(let kept) = feed.read(after: feed.oldest) else {
      return #expect(Bool(false))
    }
    #expect(kept.count >= 5 && kept.last?.number == 50)
    #expect(feed.read(after: feed.oldest - 1) == .lost)
    feed.append("x", .string(String(repeating: "y", count: 5000)))
    #expect(feed.oldest == 50 && feed.last == 51)
    guard case .events(let last) = feed.read(after: 50) else { return #expect(Bool(false)) }
    #expect(last.map(\.number) == [51])
  }

  @Test(
    "Playlist folders are removed with their sessions, and at the start if not declared",
    .long)
  func folders() async throws {
    let scratch = try Scratch()
    let file = FileManager.default
    for name in ["declared", "left", "left.over"] {
      try file.createDirectory(
        atPath: scratch.path("data/live/\(name)"), withIntermediateDirectories: true)
    }
    try file.createDirectory(
      atPath: scratch.path("data/recordings/left"), withIntermediateDirectories: true)
    for path in ["data/clip.mp4", "data/recordings/left/take.mp4"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path(path)))
    }
    let service = try await RunningService(
      { configuration, _ in
        configuration.sessions = [["name": "declared", "input": ["url": "file:clip.mp4"]]]
      }, scratch: scratch)
    func live() throws -> [String] {
      try file.contentsOfDirectory(atPath: scratch.path("data/live")).sorted()
    }
    #expect(try live() == ["declared"])
    #expect(file.fileExists(atPath: scratch.path("data/recordings/left/take.mp4")))
    try await service.session("one")
    #expect(try live() == ["declared", "one"])
    try await service.ask("DELETE", "/v1/sessions/one")
    // The session has ended, but can still be played.
    #expect(try live() == ["declared", "one"])
    try await service.ask("DELETE", "/v1/sessions/one")
    #expect(try live() == ["declared"])
    // The oldest ended sessions are forgotten one by one, and their folders removed.
    for index in 0..<70 {
      #expect(try await service.session("s\(index)").status == 201)
      try await service.ask("DELETE", "/v1/sessions/s\(index)")
    }
    #expect(try live().count <= 66)
    #expect(try !live().contains("s0"))
    try await service.shutDown()
  }
}
