import Foundation
import UprightOrientation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("Sessions over HTTP")
struct SessionAPITests {
  @Test("A session is created, shown, listed, ended and forgotten")
  func life() async throws {
    let service = try await RunningService()
    let made = try await service.session(
      "stage", ", \"options\": {\"size\": \"720p\", \"level\": true, \"gop\": 50}")
    #expect(made.status == 201, "\(made.text)")
    #expect(made.headers["location"] == "http://localhost/v1/sessions/stage")
    #expect(made.json["id"].string == "stage" && made.json["state"].string == "waiting")
    let key = try #require(made.json["publishKey"].string)
    #expect(key.utf8.count == 43)
    let options = try #require(service.script.sessions.first).configuration.options
    #expect(options.size == .pair(.init(720, 1280)) && options.levels && options.gop == 50)
    let shown = try await service.ask("GET", "/v1/sessions/stage")
    #expect(shown.status == 200 && !shown.text.contains(key))
    #expect(shown.json["outputs"][0]["url"].string == "http://localhost/live/stage/index.m3u8")
    #expect(try await service.ask("GET", "/v1/sessions").json["sessions"].array.count == 1)
    #expect(try await service.session("stage").status == 409)

    let ended = try await service.ask("DELETE", "/v1/sessions/stage")
    #expect(ended.status == 200 && ended.json["state"].string == "ended")
    let late = try await service.ask("POST", "/v1/sessions/stage/events", "{\"lock\": true}")
    #expect(late.status == 409)
    #expect(try await service.ask("DELETE", "/v1/sessions/stage").status == 204)
    #expect(try await service.ask("GET", "/v1/sessions/stage").status == 404)
  }

  @Test("Numbers name files of the data folder too, and a flag that is off isn't given")
  func options() async throws {
    let service = try await RunningService()
    try await service.session(
      "one", ", \"options\": {\"slate\": 5, \"level\": false, \"crf\": 23.5}")
    let folder = service.scratch.path("data")
    let options = try #require(service.script.sessions.first).configuration.options
    #expect(options.slate == "\(folder)/5" && !options.levels)
    #expect(options.rate == .constantQuality(23.5))
  }

  @Test("A new session can use the name of a failed one")
  func again() async throws {
    let service = try await RunningService()
    try await service.session("stage")
    service.script.sessions[0].become(.failed, reason: "gone")
    #expect(try await service.session("stage").status == 201)
    #expect(service.script.sessions.count == 2)
  }

  static let wrong: [(body: String, status: Int)] = [
    ("{", 400), ("", 400), ("[]", 400), ("{}", 400), ("{\"input\": 1}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"extra\": 1}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\", \"mode\": \"push\"}, \"name\": \"../x\"}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"name\": \"a/b\"}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": []}", 400),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": [{\"type\": \"hls\"}, {\"type\": \"hls\"}]}",
      422
    ),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"inputTimeout\": -1}", 400),
    ("{\"input\": {\"url\": \"file:../clip.mp4\"}}", 422),
    ("{\"input\": {\"url\": \"/etc/passwd\"}}", 422),
    ("{\"input\": {\"url\": \"http://127.0.0.1/x\"}}", 422),
    ("{\"input\": {\"url\": \"http://2130706433/x\"}}", 422),
    ("{\"input\": {\"url\": \"rtmp://8.8.8.8:1935/live/key\"}}", 422),
    ("{\"input\": {\"url\": \"rtmp://169.254.169.254/live/key\", \"mode\": \"pull\"}}", 422),
    ("{\"input\": {\"url\": \"concat:a|b\"}}", 422),
    ("{\"input\": {\"url\": \"rtp://127.0.0.1:5000\"}}", 422),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": [{\"type\": \"file\", \"name\": \"../a.mp4\"}]}",
      422
    ),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": [{\"type\": \"file\", \"name\": \"a.m3u8\"}]}",
      422
    ),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": [{\"type\": \"file\", \"name\": \"a.avi\"}]}",
      422
    ),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"outputs\": [{\"type\": \"rtmp\", \"url\": \"file:/etc/x\"}]}",
      422
    ),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"policy\": \"nonsense\"}", 422),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"policy\": {\"semantics\": \"ios99\"}}", 422),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"size\": \"huge\"}}", 422),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"audio\": \"x\"}}", 422),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"slate\": \"/etc/passwd\"}}", 422),
    (
      "{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"encoder-options\": \"stats=/etc/x\"}}",
      422
    ),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"size\": {}}}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"size\": false}}", 400),
    ("{\"input\": {\"url\": \"file:clip.mp4\"}, \"options\": {\"fit\": [\"fill\"]}}", 400),
  ]

  @Test("Invalid requests get a problem and leave no session")
  func refusals() async throws {
    let service = try await RunningService()
    try Data("x".utf8).write(to: URL(fileURLWithPath: service.scratch.path("data/clip.mp4")))
    for (body, status) in Self.wrong {
      let answer = try await service.ask("POST", "/v1/sessions", body)
      #expect(answer.status == status, "\(body): \(answer.text)")
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect(answer.json["status"].int == answer.status)
      #expect(answer.json["detail"].string?.isEmpty == false && answer.json["title"].string != nil)
    }
    #expect(try await service.ask("GET", "/v1/sessions").json["sessions"].array.isEmpty)
  }

  @Test("Unknown paths, bodies that are too long, and unsupported transfer codings")
  func others() async throws {
    let service = try await RunningService { configuration, _ in configuration.bodyLimit = 2048 }
    #expect(try await service.ask("GET", "/v1/nothing").status == 404)
    #expect(try await service.ask("GET", "/v1/sessions/none").status == 404)
    #expect(try await service.ask("POST", "/v1/sessions/none/events", "{}").status == 404)
    #expect(try await service.ask("DELETE", "/v1/sessions/none").status == 404)
    let long = "{\"name\": \"" + String(repeating: "a", count: 4096) + "\"}"
    let answer = try await service.ask("POST", "/v1/sessions", long)
    #expect(answer.status == 413 && answer.json["status"].int == 413, "\(answer.text)")
    let chunked = try await service.ask(
      raw: "POST /v1/sessions HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer "
        + "\(RunningService.token)\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n"
        + String(repeating: " ", count: 4096) + "\r\n0\r\n\r\n")
    #expect(chunked.status == 413)
    for coding in ["xchunked", "gzip", "chunked, identity"] {
      let unknown = try await service.ask(
        raw: "POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "
          + "\(RunningService.token)\r\nTransfer-Encoding: \(coding)\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
      #expect(unknown.status == 400, "\(coding): \(unknown.text)")
    }
  }

  @Test("Responses contain no folder of the server and no advice for the command line")
  func answers() {
    for (error, text) in [
      (
        UprightError(.usage, "segments of 0.1 s", at: "--segment", remedy: "use 0.5 to 60"),
        "segments of 0.1 s: options.segment: use 0.5 to 60"
      ),
      (
        UprightError(
          .usage, "cannot be known ahead", at: "--canvas majority",
          remedy: "use --canvas initial, portrait or landscape"),
        "cannot be known ahead: options.canvas: use canvas initial, portrait or landscape"
      ),
      (
        UprightError(
          .cannotCreate, "exists", at: "/srv/upright/a.mp4",
          remedy: "add --overwrite to replace it, or give another name"), "exists: a.mp4"
      ),
    ] {
      let secrets = Secrets()
      secrets.hide(folder: "/srv/upright")
      #expect(secrets.redact(Problem(error).detail) == text)
    }
  }

  @Test("An input that leads to a forbidden address fails its session, with the address")
  func refusedHop() async throws {
    let service = try await RunningService { configuration, _ in
      configuration.allowHosts = ["example.com"]
    }
    let made = try await service.ask(
      "POST", "/v1/sessions",
      "{\"name\": \"one\", \"input\": {\"url\": \"https://example.com/a.m3u8\"}}")
    #expect(made.status == 201, "\(made.text)")
    let way = try #require(service.script.sessions[0].configuration.httpProxy)
    let user = way.dropFirst(7).prefix { $0 != "@" }
    let port = try #require(Int(way.split(separator: ":").last ?? ""))
    let client = try LocalConnection(port: port)
    client.send(
      "CONNECT 127.0.0.1:9 HTTP/1.1\r\nProxy-Authorization: Basic \(Data(user.utf8).base64EncodedString())\r\n\r\n"
    )
    #expect(try await RunningService.onThread { try Answer(client.receive().bytes).status } == 403)
    let shown = try await service.ask("GET", "/v1/sessions/one").json
    #expect(shown["state"].string == "failed")
    #expect(shown["reason"].string == "the input led to 127.0.0.1:9: a loopback address")
  }

  @Test("At the limit, a new session gets 429 with Retry-After; an ended session makes room")
  func limit() async throws {
    let service = try await RunningService { configuration, _ in configuration.maxSessions = 2 }
    #expect(try await service.session("a").status == 201)
    #expect(try await service.session("b").status == 201)
    let refused = try await service.session("c")
    #expect(refused.status == 429 && refused.headers["retry-after"] != nil)
    service.script.sessions[0].become(.ended)
    #expect(try await service.session("c").status == 201)
  }

  @Test("Sessions that wait for a publisher have a limit of their own, until one comes")
  func waiting() async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService { configuration, _ in
      (configuration.maxSessions, configuration.maxWaiting) = (1, 2)
    }
    func declare(_ name: String) async throws -> Answer {
      try await service.ask(
        "POST", "/v1/sessions",
        "{\"name\": \"\(name)\", \"input\": {\"url\": \"rtmp://127.0.0.1:\(port)/live/key-of-\(name)\"}}"
      )
    }
    for name in ["a", "b"] { #expect(try await declare(name).status == 201) }
    let refused = try await declare("c")
    #expect(refused.status == 429 && refused.text.contains("2 sessions are already waiting"))
    #expect(refused.headers["retry-after"] != nil)
    // They take no room from the others.
    #expect(try await service.session("file").status == 201)
    #expect(try await service.session("more").status == 429)
    let late = try await RTMPClient.publish("key-of-a", at: port)
    #expect(late.status?.reason == "1 sessions are already running", "\(late.status as Any)")
    service.script.sessions.last?.become(.ended)
    let publisher = try await RTMPClient.publish("key-of-a", at: port)
    #expect(publisher.status?.isStart == true)
    // Now it runs, and there is room for one that waits.
    #expect(try await service.session("more").status == 429)
    #expect(try await declare("c").status == 201)
    #expect(try await declare("d").status == 429)
    _ = try await service.ask("DELETE", "/v1/sessions/b")
    #expect(try await declare("d").status == 201)
    try await service.shutDown()
  }

  @Test("A session has the priority that it was given, and is refused with another word")
  func priority() async throws {
    let service = try await RunningService()
    for (index, word) in SessionPriority.allCases.map(\.rawValue).enumerated() {
      let made = try await service.session("s\(index)", ", \"priority\": \"\(word)\"")
      #expect(made.status == 201 && made.json["priority"].string == word, "\(made.text)")
    }
    #expect(try await service.session("plain").json["priority"].string == "normal")
    for wrong in ["\"urgent\"", "1", "null", "\"\""] {
      let answer = try await service.session("wrong", ", \"priority\": \(wrong)")
      #expect(answer.status == 400 && answer.text.contains("priority"), "\(answer.text)")
    }
  }

  @Test("One or several events, for now or later, each with its decision")
  func events() async throws {
    let service = try await RunningService()
    try await service.session()
    let path = "/v1/sessions/one/events"
    let one = try await service.ask("POST", path, "{\"device\": \"landscapeLeft\"}")
    #expect(one.status == 200, "\(one.text)")
    #expect(one.json["decisions"][0]["decision"].string == "rotate")
    #expect(one.json["decisions"][0]["to"].string == "landscapeRight")
    #expect(one.json["pending"].int == 0)
    let several = try await service.ask(
      "POST", path, "[{\"at\": 2, \"lock\": true}, {\"at\": 3, \"device\": \"portrait\"}]")
    #expect(several.json["decisions"].array.map { $0["decision"].string } == ["rotate", "refuse"])
    for (body, status) in [
      ("{\"device\": \"sideways\"}", 422), ("{\"nonsense\": 1}", 422), ("[]", 400), ("{", 400),
      ("[{\"at\": 5, \"lock\": true}, 7]", 422), ("{\"at\": -1, \"lock\": true}", 422),
    ] {
      let answer = try await service.ask("POST", path, body)
      #expect(answer.status == status, "\(body): \(answer.text)")
    }
  }
}
