import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("The console's files, and logging in")
struct ConsoleTests {
  /// The responses of the OpenAPI document that occur in these tests.
  static let described: Set<String> = ["DELETE /v1/login 403"]

  private static let folder = Fixtures.packageRoot
    .appendingPathComponent("Service/Sources/Console/Pages")

  @Test(
    "Every file is served as it is, with a type, an entity tag and a policy that allows nothing inline"
  )
  func files() async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(names) == Set(ConsoleFiles.all.names))
    let service = try await RunningService()
    for name in names {
      let answer = try await service.ask("GET", "/console/\(name)", token: nil)
      #expect(answer.status == 200, "\(name)")
      #expect(Data(answer.body) == (try Data(contentsOf: Self.folder.appendingPathComponent(name))))
      #expect(answer.headers["content-type"]?.hasSuffix("; charset=utf-8") == true, "\(name)")
      let policy = try #require(answer.headers["content-security-policy"])
      #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
      #expect(policy.contains("frame-ancestors 'none'"))
      let tag = try #require(answer.headers["etag"])
      let again = try await service.ask(
        "GET", "/console/\(name)", token: nil, headers: ["If-None-Match": tag])
      #expect(again.status == 304 && again.body.isEmpty)
      let packed = try await service.ask(
        "GET", "/console/\(name)", token: nil, headers: ["Accept-Encoding": "gzip"])
      #expect(packed.headers["content-encoding"] == "gzip" && packed.headers["etag"] != tag)
    }
    let page = try await service.ask("GET", "/", token: nil)
    #expect(page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.text.contains("<script type=\"module\" src=\"/console/app.js\">"))
    // Other pages may embed the one that plays a session, and no other.
    let watch = try await service.ask("GET", "/watch/one", token: nil)
    let policy = try #require(watch.headers["content-security-policy"])
    #expect(watch.text.contains("/console/watch.js") && !policy.contains("frame-ancestors"))
    for name in ["none.js", "..%2fconsole.c", "%2e%2e"] {
      #expect(try await service.ask("GET", "/console/\(name)", token: nil).status == 404, "\(name)")
    }
  }

  @Test("No file has an inline script or style, or names another host")
  func strict() throws {
    for name in ConsoleFiles.all.names {
      let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
      if name.hasSuffix(".html") {
        #expect(text.firstMatch(of: /<script(?![^>]*src=)/) == nil, "\(name)")
        #expect(text.firstMatch(of: /<[^>]*\s(on[a-z]+|style)=/) == nil, "\(name)")
      }
      let addresses = text.matches(of: /https?:\/\/[^"'\s)]+/).map { String($0.output) }
      #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(name): \(addresses)")
    }
  }

  /// Logs in. Returns the answer and the `Cookie` that a browser sends from then on.
  private static func logIn(
    _ service: RunningService, token: String? = RunningService.token, host: [String: String] = [:]
  ) async throws -> (answer: Answer, cookie: String) {
    let answer = try await service.ask("POST", "/v1/login", token: token, headers: host)
    let set = answer.headers["set-cookie"] ?? ""
    return (answer, String(set.prefix { $0 != ";" }))
  }

  @Test("A login is a cookie that scripts can't read and that isn't the token")
  func login() async throws {
    let service = try await RunningService()
    try await service.session()
    let (answer, cookie) = try await Self.logIn(service)
    #expect(answer.status == 204 && answer.headers["cache-control"] == "no-store")
    let set = try #require(answer.headers["set-cookie"])
    for word in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
      #expect(set.contains("; \(word)"), "\(set)")
    }
    #expect(!set.contains(RunningService.token) && !set.contains("Secure"))
    let known = ["Cookie": "a=b; \(cookie)"]
    for path in ["/v1/sessions", "/v1/sessions/one", "/v1/sessions/one/policy", "/metrics"] {
      #expect(try await service.ask("GET", path, token: nil, headers: known).status == 200)
    }
    // A wrong token isn't mended by a cookie.
    let both = try await service.ask("GET", "/v1/sessions", token: "wrong", headers: known)
    #expect(both.status == 401)
    for wrong in [cookie + "x", String(cookie.dropLast()), "upright=1", "", "x" + cookie] {
      let answer = try await service.ask("GET", "/metrics", token: nil, headers: ["Cookie": wrong])
      #expect(answer.status == 401, "\(wrong)")
    }
    for token in [nil, "wrong"] {
      let refused = try await Self.logIn(service, token: token)
      #expect(refused.answer.status == 401 && refused.cookie.isEmpty)
    }
    let key = try await service.session("two").json["publishKey"].string
    #expect(try await Self.logIn(service, token: key).answer.status == 401)
    #expect(!service.log.lines.contains(cookie.suffix(43)))
  }

  @Test(
    "A request that changes something with a cookie alone, as another page can send it, is refused")
  func forgery() async throws {
    let service = try await RunningService()
    try await service.session()
    let cookie = try await Self.logIn(service).cookie
    let path = "/v1/sessions/one/events"
    for (method, path, body) in [
      ("POST", path, "{\"lock\": true}"), ("DELETE", "/v1/sessions/one", nil),
      ("PATCH", "/v1/sessions/one", "{\"policy\": \"pad\"}"), ("DELETE", "/v1/login", nil),
    ] as [(String, String, String?)] {
      let forged = try await service.ask(
        method, path, body, token: nil,
        headers: ["Cookie": cookie, "Origin": "http://localhost:3000"])
      #expect(
        forged.status == 403 && forged.text.contains("X-Upright-Console"), "\(method) \(path)")
    }
    #expect(service.script.sessions[0].policy?.reducer.state.rotationLock == false)
    let meant = ["Cookie": cookie, "X-Upright-Console": "1"]
    let locked = try await service.ask("POST", path, "{\"lock\": true}", token: nil, headers: meant)
    #expect(locked.status == 200)
    // No page of another origin may send that header: nothing answers its preflight request with it.
    let preflight = try await service.ask(
      "OPTIONS", path, token: nil,
      headers: [
        "Origin": "http://a.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-upright-console",
      ])
    #expect(preflight.headers["access-control-allow-origin"] == nil)
    // A program with the token needs no header.
    #expect(try await service.ask("POST", path, "{\"lock\": false}").status == 200)
  }

  @Test("A login ends by logging out and after twelve hours; the oldest makes room for a new one")
  func ends() async throws {
    let clock = PlaybackTests.Clock()
    let service = try await RunningService({ _, dependencies in dependencies.now = { clock.now } })
    func works(_ cookie: String) async throws -> Bool {
      try await service.ask("GET", "/metrics", token: nil, headers: ["Cookie": cookie]).status
        == 200
    }
    let (first, second) = (
      try await Self.logIn(service).cookie, try await Self.logIn(service).cookie
    )
    let left = try await service.ask(
      "DELETE", "/v1/login", token: nil, headers: ["Cookie": first, "X-Upright-Console": "1"])
    #expect(left.status == 204 && left.headers["set-cookie"]?.contains("Max-Age=0") == true)
    #expect(try await !works(first))
    #expect(try await works(second))
    clock.now += Logins.seconds - 1
    #expect(try await works(second))
    clock.now += 1
    #expect(try await !works(second))

    let logins = Logins(token: "token", now: { clock.now })
    for _ in 0..<1001 {
      _ = logins.begin(at: .relative)
      clock.now += 1
    }
    #expect(logins.count == 1000)
  }

  @Test("A browser that knows the service by HTTPS sends its cookie only over HTTPS")
  func secure() async throws {
    let service = try await RunningService({ configuration, _ in
      configuration.publicURL = "https://a.example"
    })
    let set = try await Self.logIn(service).answer.headers["set-cookie"] ?? ""
    #expect(set.hasSuffix("; Secure"))
    // Cookies don't distinguish ports.
    #expect(Logins(token: "a", now: { 0 }).cookie != Logins(token: "b", now: { 0 }).cookie)
  }

  @Test("The policy is returned with the deciding controller, and decisions with their reason")
  func policy() async throws {
    let service = try await RunningService()
    try await service.session("one", ", \"policy\": \"fullscreen-player\"")
    let before = try await service.ask("GET", "/v1/sessions/one/policy").json
    #expect(before["state"]["deciding"].string == "list")
    #expect(before["state"]["containers"].array.map(\.string) == ["main"])
    #expect(before["state"]["device"].string == "portrait")
    let path = "/v1/sessions/one/events"
    let refused = try await service.ask("POST", path, "{\"device\": \"landscapeLeft\"}")
    let why = refused.json["decisions"][0]["why"].string ?? ""
    #expect(why.contains("Rule 5 of automatic rotation"), "\(refused.text)")
    let shown = try await service.ask("POST", path, "{\"present\": \"player\"}")
    #expect(shown.json["decisions"][0]["controller"].string == "player", "\(shown.text)")
    let after = try await service.ask("GET", "/v1/sessions/one/policy").json
    #expect(after["state"]["deciding"].string == "player")
    #expect(after["state"]["device"].string == "landscapeLeft")
    #expect(after["state"]["presentations"][0]["controller"].string == "player")
    // A page has the events from before it was opened.
    service.script.sessions[0].become(.ended)
    let events = try await service.ask("GET", path + "?after=0").text
    #expect(events.contains("id: 1\n") && events.contains("\"why\":\"Rule 5"), "\(events)")
    for query in ["?after=x", "?before=1"] {
      #expect(try await service.ask("GET", path + query).status == 400)
    }
  }
}
