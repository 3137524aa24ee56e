import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("Absolute URLs in responses")
struct PublicURLTests {
  private static func ask(
    _ service: RunningService, _ path: String, _ head: String, method: String = "GET",
    body: String = "", version: String = "1.1"
  ) async throws -> Answer {
    try await service.ask(
      raw: "\(method) \(path) HTTP/\(version)\r\n\(head)Connection: close\r\nAuthorization: Bearer "
        + "\(RunningService.token)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  @Test("URLs have the host of the request, whatever its form")
  func host() async throws {
    let service = try await RunningService()
    let made = try await service.session("stage", ", \"playback\": \"signed\"")
    #expect(made.headers["location"] == "http://localhost/v1/sessions/stage")
    for host in ["127.0.0.1:8080", "[::1]:8080", "live.example.com", "LIVE.example.com:80"] {
      let head = "Host: \(host)\r\n"
      let session = try await Self.ask(service, "/v1/sessions/stage", head).json
      let url = "http://\(host)/live/stage/index.m3u8"
      #expect(session["outputs"][0]["url"].string == url)
      let list = try await Self.ask(service, "/v1/sessions", head).json
      #expect(list["sessions"][0]["outputs"][0]["url"].string == url)
      let outputs = try await Self.ask(service, "/v1/sessions/stage/outputs", head).json
      #expect(outputs["outputs"][0]["url"].string == url)
      let playback = try await Self.ask(
        service, "/v1/sessions/stage/playback-url", head, method: "POST", body: "{\"seconds\": 60}")
      #expect(
        playback.json["url"].string?.hasPrefix("http://\(host)/live/stage/~") == true,
        "\(playback.text)")
      let document = try await JSON(yaml: Self.ask(service, "/openapi.yaml", head).text)
      #expect(document["servers"][0]["url"].string == "http://\(host)")
    }
  }

  @Test("Without a Host header the URLs are relative")
  func none() async throws {
    let service = try await RunningService()
    try await service.session("stage")
    for (head, version) in [("", "1.0"), ("Host: \r\n", "1.1")] {
      let shown = try await Self.ask(service, "/v1/sessions/stage", head, version: version)
      #expect(shown.json["outputs"][0]["url"].string == "/live/stage/index.m3u8", "\(shown.text)")
      let document = try await JSON(
        yaml: Self.ask(service, "/openapi.yaml", head, version: version).text)
      #expect(document["servers"][0]["url"].string == "/")
    }
  }

  @Test(
    "A Host header that isn't a host gets 400 and appears nowhere",
    arguments: [
      "a b", "a/b", "a@b", "a?b", "a#b", "a:b", "a:0", "a:65536", "a:80:90", "\"a\"", "<script>",
      "a\\b", "[::1", "::1", "[x]", ".", "http://a", "a%2Fb", "ä.example", "a,b",
      String(repeating: "a", count: 8192), "a\r\nHost: b", "a\r\nX: 1\r\nHost: a",
    ])
  func hostile(_ host: String) async throws {
    let service = try await RunningService()
    try await service.session("stage")
    let answer = try await Self.ask(service, "/v1/sessions/stage", "Host: \(host)\r\n")
    #expect(answer.status == 400, "\(answer.text)")
    #expect(!answer.text.contains("script") && !answer.text.contains("aaaa"), "\(answer.text)")
    #expect(try await service.ask("GET", "/v1/sessions/stage").status == 200)
  }

  @Test("The setting publicURL comes before the host of the request")
  func setting() async throws {
    let service = try await RunningService { configuration, _ in
      configuration.publicURL = "https://live.example.com:8443/upright/"
    }
    let made = try await service.session("stage")
    #expect(
      made.headers["location"] == "https://live.example.com:8443/upright/v1/sessions/stage")
    let document = try await JSON(yaml: service.ask("GET", "/openapi.yaml").text)
    #expect(document["servers"][0]["url"].string == "https://live.example.com:8443/upright")
    let added = try await service.ask(
      "POST", "/v1/sessions/stage/outputs", "{\"type\": \"file\", \"name\": \"a.mp4\"}")
    #expect(
      added.headers["location"]
        == "https://live.example.com:8443/upright/v1/sessions/stage/outputs/file")
    // A Host header that is wrong is refused all the same.
    #expect(try await Self.ask(service, "/v1/sessions", "Host: a b\r\n").status == 400)
  }

  @Test(
    "The forms of publicURL",
    arguments: [
      ("https://a.example", "https://a.example/x"),
      ("http://a.example:8080/", "http://a.example:8080/x"),
      ("https://[::1]:1/p/q//", "https://[::1]:1/p/q/x"), ("ftp://a.example", nil),
      ("a.example", nil),
      ("https://u:p@a.example", nil), ("https://a.example/?q", nil), ("https://", nil), ("", nil),
      ("https://a.example/\r\nX: 1", nil), ("https://a.example/\"", nil),
    ] as [(String, String?)])
  func forms(_ text: String, _ url: String?) { #expect(PublicURL(text)?.of("/x") == url) }
}
