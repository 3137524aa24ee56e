import Foundation
import HTTPTypes
import Logging
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Access control")
struct AccessTests {
  static let rules: [(HTTPRequest.Method, String, AccessRule)] = [
    (.get, "/", .open), (.get, "/healthz", .open), (.get, "/readyz", .open),
    (.get, "/openapi.yaml", .open), (.get, "/live/a/index.m3u8", .open),
    (.options, "/live/a/index.m3u8", .open), (.head, "/live/a/x.m4s", .open),
    (.post, "/live/a/x", .control), (.delete, "/healthz", .control), (.post, "/", .control),
    (.get, "/metrics", .control), (.get, "/v1/sessions", .control),
    (.post, "/v1/sessions", .control), (.get, "/v1/sessions/a", .publish(session: "a")),
    (.delete, "/v1/sessions/a", .control), (.get, "/v1/sessions/a/events", .publish(session: "a")),
    (.post, "/v1/sessions/a/events", .contribute(session: "a")),
    (.delete, "/v1/sessions/a/events", .control), (.get, "/v1/sessions/", .control),
    (.post, "/v1/sessions/a", .control), (.get, "/v1/webhooks", .control),
    (.get, "//healthz", .control), (.get, "/healthz/x", .control), (.get, "/livex/a", .control),
    (.post, "/whip/a", .contribute(session: "a")),
    (.delete, "/whip/a/b", .contribute(session: "a")),
    (.patch, "/whip/a/b", .contribute(session: "a")), (.options, "/whip/a/b", .open),
    (.post, "/whip/", .control), (.post, "/whip", .control), (.get, "/publish/a", .open),
    (.post, "/publish/a", .open), (.post, "/publish/a/b", .control), (.get, "/publish", .control),
    (.get, "/publish/page/style.css", .control), (.get, "/console/app.js", .open),
    (.post, "/console/app.js", .control), (.get, "/console/a/b", .control),
    (.get, "/console", .control),
    (.get, "/sensor/a", .open), (.post, "/sensor/a", .control),
    (.get, "/watch/a", .open), (.post, "/watch/a", .control), (.get, "/watch/a/b", .control),
    (.get, "/v1/sessions/a/publish-address", .control),
    (.post, "/v1/sessions/a/sensor-url", .control), (.get, "/v1/sessions/a/thumbnail", .control),
    (.post, "/v1/sample", .control), (.post, "/v1/login", .login),
    (.delete, "/v1/login", .control),
    (.get, "/v1/sessions/a/policy", .control),
    (.post, "/v1/sessions/a/publish-url", .control),
    (.get, "/vod", .library), (.get, "/vod/", .library), (.head, "/vod/a.mp4/index.m3u8", .library),
    (.get, "/vod/a.mp4/~1.k.s/index.m3u8", .open), (.get, "/vod/~1.k.s/index.m3u8", .open),
    (.get, "/vod/a~b.mp4/index.m3u8", .library), (.post, "/vod/a.mp4/index.m3u8", .control),
    (.options, "/vod/a.mp4/index.m3u8", .open), (.post, "/v1/vod/a.mp4/playback-url", .control),
    (.get, "/nothing", .control), (.get, "", .control), (.get, "/v1/sessions/a/b/c", .control),
  ]

  @Test("The credential that each request needs", arguments: rules)
  func rule(_ method: HTTPRequest.Method, _ path: String, _ rule: AccessRule) {
    #expect(AccessRule(method: method, path: path) == rule)
  }

  @Test("Only equal secrets compare as equal")
  func comparison() {
    #expect(constantTimeEqual("abc", "abc") && constantTimeEqual("", ""))
    for (a, b) in [
      ("abc", "abd"), ("abc", "ab"), ("ab", "abc"), ("", "a"), ("a", ""), ("Abc", "abc"),
    ] {
      #expect(!constantTimeEqual(a, b), "\(a) \(b)")
    }
    // A difference in any character is found.
    let token = "0123456789abcdefghijklmnopqrstuv"
    for index in token.indices {
      let other = token.replacingCharacters(in: index...index, with: "-")
      #expect(!constantTimeEqual(other, token) && !constantTimeEqual(token, other), "\(other)")
    }
  }

  @Test("Generated secrets have 43 characters and are all different")
  func made() {
    let secrets = (0..<100).map { _ in Secrets.make() }
    #expect(Set(secrets).count == 100 && secrets.allSatisfy { $0.utf8.count == 43 })
  }

  @Test("Requests without a token, with a wrong token, and with a session's publish key")
  func scopes() async throws {
    let service = try await RunningService()
    let key = try #require(try await service.session("one").json["publishKey"].string)
    let other = try #require(try await service.session("two").json["publishKey"].string)
    for token in [
      nil, "", "wrong", RunningService.token + "x", String(RunningService.token.dropLast()),
    ] {
      for path in ["/metrics", "/v1/sessions", "/v1/sessions/one", "/v1/sessions/none", "/nothing"]
      {
        let answer = try await service.ask("GET", path, token: token)
        #expect(answer.status == 401, "\(path)")
        #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
      }
    }
    let basic = try await service.ask(
      "GET", "/metrics", token: nil, headers: ["Authorization": "Basic \(RunningService.token)"])
    #expect(basic.status == 401)
    let path = "/v1/sessions/one/events"
    #expect(try await service.ask("GET", "/v1/sessions/one", token: key).status == 200)
    #expect(try await service.ask("POST", path, "{\"lock\": true}", token: key).status == 200)
    #expect(try await service.ask("POST", path, "{\"lock\": true}", token: other).status == 401)
    #expect(try await service.ask("DELETE", "/v1/sessions/one", token: key).status == 401)
    #expect(try await service.ask("GET", "/v1/sessions", token: key).status == 401)
    #expect(try await service.ask("GET", "/metrics", token: key).status == 401)
    for open in ["/healthz", "/readyz", "/", "/openapi.yaml"] {
      #expect(try await service.ask("GET", open, token: nil).status == 200, "\(open)")
    }
  }

  @Test("Log events contain no secret and are one line each")
  func logs() {
    let secrets = Secrets()
    secrets.add("hunter22")
    let lines = Mutex<[String]>([])
    let logger = Logger(label: "x") {
      RedactingLog(
        label: $0, secrets: secrets, write: { line in lines.withLock { $0.append(line) } })
    }
    logger.error(
      "at rtmp://h/live/hunter22\nforged", metadata: ["key": "hunter22", "a": ["hunter22"]])
    let line = lines.withLock { $0.joined() }
    #expect(!line.contains("hunter22") && line.contains("***"))
    #expect(line.filter { $0 == "\n" }.count == 1)
    secrets.add("hunter22")
    secrets.remove("hunter22")
    #expect(secrets.redact("hunter22") == "***")
    secrets.remove("hunter22")
    #expect(secrets.redact("hunter22") == "hunter22")
    // The key is also the session's name.
    secrets.add(inURLs: "stage")
    #expect(
      secrets.redact("session stage: rtmp://h/live/stage, /live/stages: stage")
        == "session stage: rtmp://h/live/***, /live/stages: stage")
  }

  @Test("Responses, log lines, metrics and errors contain no secret")
  func silence() async throws {
    let service = try await RunningService()
    let inputs = [
      "rtmp://127.0.0.1:0/live/sekrit-key-1",
      "rtmp://user:sekrit-pass-2@127.0.0.1/live/sekrit-key-3",
      "srt://127.0.0.1:9?passphrase=sekrit-phrase-4",
    ]
    try await service.session("one")
    for (index, url) in inputs.enumerated() {
      let mode = index == 0 ? "listen" : "pull"
      _ = try await service.ask(
        "POST", "/v1/sessions",
        "{\"name\": \"s\(index)\", \"input\": {\"url\": \"\(url.replacing(":0/", with: ":1935/"))\", \"mode\": \"\(mode)\"}}"
      )
    }
    for session in service.script.sessions {
      session.become(
        .failed,
        reason: "cannot open rtmp://x/live/sekrit-key-1 sekrit-pass-2 sekrit-phrase-4 sekrit-key-3")
    }
    var all = service.log.lines
    for path in [
      "/v1/sessions", "/metrics", "/v1/sessions/s0", "/v1/sessions/s1", "/v1/sessions/s2",
    ] {
      all += try await service.ask("GET", path).text
    }
    all += try await service.ask("GET", "/v1/sessions", token: "sekrit-wrong").text
    let reader = try service.connection()
    reader.send(
      "GET /v1/sessions/s1/events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 0\r\nConnection: close\r\nAuthorization: Bearer \(RunningService.token)\r\n\r\n"
    )
    let told = try await RunningService.onThread { reader.receive(seconds: 10).bytes }
    all += String(decoding: told, as: UTF8.self)
    #expect(all.contains("failed") && all.contains("***"))
    #expect(!all.contains("sekrit"), "\(all)")
    #expect(!all.contains(RunningService.token))
  }
}
