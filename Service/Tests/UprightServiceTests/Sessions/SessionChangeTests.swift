import Foundation
import UprightOrientation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// PATCH and outputs over HTTP, with scripted sessions. Costs about a second in all.
@Suite("Changes of a session over HTTP")
struct SessionChangeTests {
  private static let one = "/v1/sessions/one"
  private static let outputs = "/v1/sessions/one/outputs"

  static let wrong: [(body: String, status: Int)] = [
    ("{", 400), ("", 400), ("[]", 400), ("1", 400), ("{}", 400), ("{\"options\": {}}", 400),
    ("{\"options\": []}", 400), ("{\"polcy\": \"phone\"}", 400),
    ("{\"policy\": \"pad\", \"policy\": \"phone\"}", 400), ("{\"options\": {\"fit\": {}}}", 400),
    ("{\"name\": \"two\"}", 409), ("{\"input\": {\"url\": \"file:clip.mp4\"}}", 409),
    ("{\"outputs\": [{\"type\": \"hls\"}]}", 409), ("{\"inputTimeout\": 5}", 409),
    ("{\"options\": {\"size\": \"720p\"}}", 409), ("{\"options\": {\"codec\": \"hevc\"}}", 409),
    ("{\"options\": {\"fit\": \"fill\", \"canvas\": \"portrait\"}}", 409),
    ("{\"policy\": \"nonsense\"}", 422), ("{\"policy\": {\"semantics\": \"ios99\"}}", 422),
    ("{\"policy\": null}", 422), ("{\"options\": {\"audio\": \"x\"}}", 422),
    ("{\"options\": {\"slate\": \"/etc/passwd\"}}", 422),
    ("{\"options\": {\"overlay\": [\"../x.png@center\"]}}", 422),
  ]

  @Test("A wrong change gets a status and a reason, and changes nothing")
  func refusals() async throws {
    let service = try await RunningService()
    try await service.session("one", ", \"options\": {\"fit\": \"blur\"}")
    for (body, status) in Self.wrong {
      let answer = try await service.ask("PATCH", Self.one, body)
      #expect(answer.status == status, "\(body): \(answer.text)")
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect(answer.json["detail"].string?.isEmpty == false)
    }
    let session = try #require(service.script.sessions.first)
    #expect(session.changes.withLock { $0.isEmpty })
    #expect(try await service.ask("GET", Self.one).json["state"].string == "waiting")
    #expect(try await service.ask("PATCH", Self.one, "{}", token: nil).status == 401)
    // The publish key doesn't allow changes.
    let key = try await service.session("two").json["publishKey"].string
    let foreign = try await service.ask(
      "PATCH", "/v1/sessions/two", "{\"policy\": \"pad\"}", token: key)
    #expect(foreign.status == 401)
  }

  @Test("Options are merged: only what is given changes, null restores the default")
  func merges() async throws {
    let service = try await RunningService()
    try await service.session("one", ", \"options\": {\"size\": \"720p\", \"fit\": \"blur\"}")
    let first = try await service.ask(
      "PATCH", Self.one, "{\"policy\": \"pad\", \"options\": {\"bitrate\": \"1M\"}}")
    #expect(first.status == 200, "\(first.text)")
    #expect(first.json["options"].object.keys.sorted() == ["bitrate", "fit", "size"])
    let second = try await service.ask("PATCH", Self.one, "{\"options\": {\"fit\": null}}")
    #expect(second.json["options"].object.keys.sorted() == ["bitrate", "size"])
    #expect(service.script.sessions[0].configuration.options.fit == .blur)
    let changes = service.script.sessions[0].changes.withLock { $0 }
    #expect(changes.map(\.names) == [["policy", "bitrate"], ["fit"]])
    #expect(changes[0].rate == .bitrate(1_000_000) && changes[1].fit == .some(nil))
  }

  @Test(
    "A change with If-Match is refused if the policy is another one meanwhile, also of two at once")
  func conditions() async throws {
    let service = try await RunningService()
    try await service.session()
    func tag() async throws -> String? {
      try await service.ask("GET", Self.one + "/policy").headers["etag"]
    }
    let first = try #require(try await tag())
    // Events change the state, not the policy.
    try await service.ask("POST", Self.one + "/events", "{\"lock\": true}")
    #expect(try await tag() == first)
    func change(_ policy: String, _ tag: String) async throws -> Answer {
      try await service.ask(
        "PATCH", Self.one, "{\"policy\": \"\(policy)\"}", headers: ["If-Match": tag])
    }
    let mine = try await change("pad", first)
    #expect(mine.status == 200, "\(mine.text)")
    let second = try #require(mine.headers["etag"])
    #expect(second != first)
    #expect(try await tag() == second)
    let theirs = try await change("portrait", first)
    #expect(theirs.status == 412, "\(theirs.text)")
    #expect(try await tag() == second)
    async let one = change("portrait", second)
    async let two = change("landscape", second)
    #expect(try await [one.status, two.status].sorted() == [200, 412])
    #expect(try await change("pad", "*").status == 200)
    #expect(try await service.ask("PATCH", Self.one, "{\"policy\": \"phone\"}").status == 200)
  }

  @Test("A change in every state", arguments: LiveState.allCases)
  func states(_ state: LiveState) async throws {
    let service = try await RunningService()
    try await service.session()
    try await service.session("two")
    if state != .waiting { service.script.sessions[0].become(state, reason: "a test") }
    let status = state == .ended || state == .failed ? 409 : 200
    let changed = try await service.ask("PATCH", Self.one, "{\"policy\": \"pad\"}")
    #expect(changed.status == status, "\(changed.text)")
    let added = try await service.ask(
      "POST", Self.outputs, "{\"type\": \"file\", \"name\": \"a.ts\"}")
    #expect(added.status == (status == 200 ? 201 : 409), "\(added.text)")
    #expect(try await service.ask("POST", Self.outputs + "/hls/stop").status == status)
    #expect(try await service.ask("GET", Self.outputs).status == 200)
    if status == 409 { #expect(changed.json["detail"].string == "the session has ended") }
    // The other session is not affected.
    let other = try await service.ask("PATCH", "/v1/sessions/two", "{\"policy\": \"pad\"}")
    #expect(other.status == 200)
  }

  @Test("A hundred changes at once, half of them wrong: each gets its answer, none is lost")
  func crowd() async throws {
    let service = try await RunningService()
    try await service.session()
    try await service.session("two")
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<100 {
        let body =
          index % 2 == 0 ? "{\"policy\": \"pad\"}" : "{\"options\": {\"size\": \"\(index)\"}}"
        group.addTask { try await service.ask("PATCH", Self.one, body).status }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 200 } == 50 && statuses.count { $0 == 409 } == 50)
    #expect(service.script.sessions[0].changes.withLock { $0.count } == 50)
    #expect(service.script.sessions[1].changes.withLock { $0.isEmpty })
  }

  @Test("More than a thousand changes and events per second get 429")
  func budget() async throws {
    let service = try await RunningService()
    try await service.session()
    // Spent an hour from now, so that nothing has been added when the request arrives.
    let budget = try service.service.sessions.find("one").budget
    #expect(budget.take(2000, now: .now + .seconds(3600)))
    let answer = try await service.ask("PATCH", Self.one, "{\"policy\": \"pad\"}")
    #expect(answer.status == 429 && answer.headers["retry-after"] == "1")
  }

  @Test(
    "Outputs are added once each, with their ids, up to a limit; what is refused leaves nothing")
  func adds() async throws {
    let service = try await RunningService()
    try await service.session()
    func add(_ body: String) async throws -> Answer {
      try await service.ask("POST", Self.outputs, body)
    }
    let push = "{\"type\": \"rtmp\", \"url\": \"rtmp://127.0.0.1:9/live/hidden-key\"}"
    let made = try await add(push)
    #expect(made.status == 201 && made.json["id"].string == "rtmp", "\(made.text)")
    #expect(made.json["state"].string == "starting" && !made.text.contains("hidden-key"))
    #expect(made.headers["location"] == "http://localhost" + Self.outputs + "/rtmp")
    for (body, status) in [
      (push, 409), ("{\"type\": \"hls\"}", 409),
      ("{\"id\": \"rtmp\", \"type\": \"file\", \"name\": \"a.ts\"}", 409),
      ("{\"type\": \"rtmp\", \"url\": \"rtmp://169.254.169.254/live/hidden-key\"}", 422),
      ("{\"type\": \"rtmp\", \"url\": \"file:/etc/passwd\"}", 422),
      ("{\"type\": \"file\", \"name\": \"../a.ts\"}", 422),
      ("{\"type\": \"file\"}", 400), ("{\"type\": \"hls\", \"id\": \"../x\"}", 400),
      ("{\"type\": \"hls\", \"more\": 1}", 400), ("[]", 400), ("{", 400),
    ] {
      let answer = try await add(body)
      #expect(answer.status == status, "\(body): \(answer.text)")
      #expect(!answer.text.contains("hidden-key") && answer.json["detail"].string != nil)
    }
    let listed = try await service.ask("GET", Self.outputs).json["outputs"].array
    #expect(listed.map { $0["id"].string } == ["hls", "rtmp"])
    for index in 0..<6 {
      #expect(try await add("{\"type\": \"file\", \"name\": \"\(index).ts\"}").status == 201)
    }
    let more = try await add("{\"type\": \"file\", \"name\": \"more.ts\"}")
    #expect(more.status == 429 && more.headers["retry-after"] != nil)
    let removed = try await service.ask("DELETE", Self.outputs + "/rtmp")
    #expect(removed.status == 200 && removed.json["type"].string == "rtmp", "\(removed.text)")
    #expect(try await add(push).status == 201)
    #expect(!service.log.lines.contains("hidden-key"))
  }

  @Test("The same output, added a hundred times at once, is added once")
  func race() async throws {
    let service = try await RunningService()
    try await service.session()
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await service.ask(
            "POST", Self.outputs, "{\"type\": \"file\", \"name\": \"a.ts\"}"
          ).status
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 201 } == 1 && statuses.count { $0 == 409 } == 99)
    #expect(service.script.sessions[0].snapshot.outputs.map(\.id) == ["hls", "file"])
  }

  @Test("Given ids are kept, and the others don't collide with them")
  func ids() async throws {
    let service = try await RunningService()
    let made = try await service.session(
      "one",
      """
      , "outputs": [{"type": "file", "name": "a.ts"}, {"id": "file", "type": "hls"},
        {"type": "file", "name": "b.ts"}]
      """)
    #expect(
      made.json["outputs"].array.map { $0["id"].string } == ["file-2", "file", "file-3"],
      "\(made.text)")
    let twice = try await service.session(
      "two",
      ", \"outputs\": [{\"id\": \"a\", \"type\": \"hls\"}, {\"id\": \"a\", \"type\": \"file\", \"name\": \"a.ts\"}]"
    )
    #expect(twice.status == 422)
  }

  @Test("Changes and outputs are sent as server-sent events")
  func events() async throws {
    let service = try await RunningService()
    try await service.session()
    let reader = try service.connection()
    reader.send(
      "GET /v1/sessions/one/events HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        + "Authorization: Bearer \(RunningService.token)\r\n\r\n")
    _ = try await RunningService.onThread { reader.text(until: "event: state") }
    try await service.ask("PATCH", Self.one, "{\"policy\": \"pad\"}")
    try await service.ask("POST", Self.outputs, "{\"type\": \"file\", \"name\": \"a.ts\"}")
    try await service.ask("POST", Self.outputs + "/file/stop")
    try await service.ask("DELETE", Self.outputs + "/file")
    service.script.sessions[0].become(.ended)
    let text = try Answer(try await RunningService.onThread { reader.receive(seconds: 10).bytes })
      .text
    #expect(
      text.contains("event: change\n") && text.contains("\"changed\":[\"policy\"]"), "\(text)")
    #expect(text.contains("event: output\n") && text.contains("\"state\":\"starting\""))
    #expect(text.contains("\"state\":\"stopped\"") && text.contains("\"state\":\"removed\""))
  }
}
