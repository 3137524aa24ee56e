import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("The list of sessions")
struct SessionListTests {
  private static func list(
    _ service: RunningService, _ query: String = ""
  ) async throws -> (ids: [String], next: String?) {
    let answer = try await service.ask("GET", "/v1/sessions" + query)
    #expect(answer.status == 200, "\(query): \(answer.text)")
    return (
      answer.json["sessions"].array.map { $0["id"].string ?? "" }, answer.json["next"].string
    )
  }

  @Test("Sessions are filtered by states and by the start of the name")
  func filter() async throws {
    let service = try await RunningService()
    for name in ["cam-1", "cam-2", "stage", "cam-3"] { try await service.session(name) }
    service.script.sessions[1].become(.live)
    service.script.sessions[2].become(.live)
    service.script.sessions[3].become(.ended)
    for (query, wanted) in [
      ("", ["cam-1", "cam-2", "stage", "cam-3"]), ("?", ["cam-1", "cam-2", "stage", "cam-3"]),
      ("?state=live", ["cam-2", "stage"]), ("?state=failed", []),
      ("?state=waiting&state=ended", ["cam-1", "cam-3"]),
      ("?name=cam-", ["cam-1", "cam-2", "cam-3"]),
      ("?name=%63am-&state=live", ["cam-2"]), ("?name=", ["cam-1", "cam-2", "stage", "cam-3"]),
      ("?name=%00%FF'%22", []), ("?name=am-", []),
    ] {
      let (ids, next) = try await Self.list(service, query)
      #expect(ids == wanted, "\(query)")
      #expect(next == nil, "\(query)")
    }
  }

  @Test("Pages follow each other without gaps, even if their last session is forgotten meanwhile")
  func pages() async throws {
    let service = try await RunningService()
    // Sessions of one millisecond are in the order of their names.
    for number in 1...5 { try await service.session("s\(number)") }
    let first = try await Self.list(service, "?limit=2")
    #expect(first.ids == ["s1", "s2"])
    service.script.sessions[1].become(.ended)
    try await service.ask("DELETE", "/v1/sessions/s2")
    let second = try await Self.list(service, "?limit=2&after=\(first.next ?? "")")
    #expect(second.ids == ["s3", "s4"])
    let third = try await Self.list(service, "?limit=2&after=\(second.next ?? "")")
    #expect(third.ids == ["s5"] && third.next == nil)
    let exact = try await Self.list(service, "?limit=4")
    #expect(exact.ids.count == 4 && exact.next == nil)
    let filtered = try await Self.list(
      service, "?limit=1&state=waiting&name=s&after=\(first.next ?? "")")
    #expect(filtered.ids == ["s3"] && filtered.next != nil)
    // A modifier of an emoji modifies the dot before it.
    let modified = try await Self.list(service, "?after=1.%F0%9F%8F%BB")
    #expect(modified.ids.count == 4)
    let beyond = try await Self.list(service, "?after=999999999999999.x")
    #expect(beyond.ids.isEmpty && beyond.next == nil)
  }

  @Test(
    "Parameters that are unknown, invalid or given twice get 400 with their name",
    arguments: [
      ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=-1", "limit"), ("limit=1e2", "limit"),
      ("limit=99999999999999999999", "limit"), ("limit", "limit"), ("limit=", "limit"),
      ("limit=%00", "limit"), ("limit=1&limit=2", "limit"), ("state=", "state"),
      ("state=LIVE", "state"), ("state=live,ended", "state"), ("after=", "after"),
      ("after=x", "after"), ("after=1", "after"),
      ("after=-1.a", "after"), ("after=1.", "after"), ("after=99999999999999999999.a", "after"),
      ("name=a&name=b", "name"), ("states=live", "states"), ("x", "unknown parameter x"),
      ("=1&%0d%0aX=2", "unknown parameter"),
    ])
  func garbage(_ query: String, _ name: String) async throws {
    let service = try await RunningService()
    let answer = try await service.ask("GET", "/v1/sessions?\(query)")
    #expect(
      answer.status == 400 && answer.json["detail"].string?.contains(name) == true, "\(answer.text)"
    )
  }
}
