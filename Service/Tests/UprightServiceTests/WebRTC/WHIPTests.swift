import Foundation
import NIOCore
import UprightPolicy
import Testing
import UprightServiceTestSupport

@testable import UprightService

@Suite("WHIP, with a WebRTC server of the test")
struct WHIPTests {
  /// The responses of the OpenAPI document that occur in these tests.
  static let described: Set<String> = Set(
    [201, 400, 413, 415, 422, 503].map { "POST /whip/{id} \($0)" }
      + [200, 204, 400, 412, 413, 415, 422, 428, 503].map { "PATCH /whip/{id}/{publication} \($0)" }
      + [200, 400, 413].map { "POST /v1/sessions/{id}/publish-url \($0)" }
      + ["DELETE /whip/{id}/{publication} 200", "POST /publish/{id} 200"])

  static let offer = """
    v=0\r
    o=- 1 1 IN IP4 127.0.0.1\r
    s=-\r
    t=0 0\r
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 98\r
    a=ice-ufrag:oldname\r
    a=ice-pwd:lkjihgfedcba9876543210\r
    a=mid:0\r
    a=sendonly\r
    a=rtpmap:96 VP8/90000\r
    a=rtpmap:97 rtx/90000\r
    a=rtpmap:98 H264/90000\r
    a=extmap:9 urn:3gpp:video-orientation\r
    m=audio 9 UDP/TLS/RTP/SAVPF 111\r
    a=mid:1\r
    a=sendonly\r
    a=rtpmap:111 opus/48000/2\r

    """

  /// A service with the WebRTC server `janus`.
  static func service(
    _ janus: FakeJanus, scratch: Scratch? = nil,
    _ change: (inout ServiceConfiguration) -> Void = { _ in }
  ) async throws -> RunningService {
    try await RunningService(
      { configuration, dependencies in
        configuration.webrtc = janus.url
        change(&configuration)
        dependencies.webrtc.request = .milliseconds(1500)
      }, scratch: scratch)
  }

  /// Creates a session whose input is WHIP. Returns its publish key.
  static func session(
    _ service: RunningService, _ name: String = "cam", whip: String = "{}"
  ) async throws -> String {
    let made = try await service.ask(
      "POST", "/v1/sessions", "{\"name\": \"\(name)\", \"input\": {\"whip\": \(whip)}}")
    try #require(made.status == 201, "\(made.text)")
    return try #require(made.json["publishKey"].string)
  }

  static func publish(
    _ service: RunningService, _ name: String = "cam", offer: String = offer,
    token: String? = RunningService.token, type: String = "application/sdp"
  ) async throws -> Answer {
    try await service.ask(
      "POST", "/whip/\(name)", offer, token: token, headers: ["Content-Type": type])
  }

  /// Waits until Janus has no rooms and sessions of a publisher.
  static func isEmpty(_ janus: FakeJanus) async throws -> Bool {
    try await waitUntil { janus.rooms.isEmpty && janus.sessions == 0 }
  }

  @Test("A publisher gets an answer, sends candidates and leaves; its room is destroyed")
  func publication() async throws {
    let janus = try FakeJanus(secret: "swordfish")
    defer { janus.stop() }
    let secret = try Scratch()
    try Data("swordfish\n".utf8).write(to: URL(fileURLWithPath: secret.path("secret")))
    let service = try await Self.service(janus) { configuration in
      configuration.webrtcSecret = "swordfish"
      configuration.iceServers = [
        "stun:stun.example.com:3478", "turn:us%3Aer:pa%22ss@turn.example.com",
      ]
    }
    let key = try await Self.session(service, whip: "{\"bitrate\": 800000}")
    let answer = try await Self.publish(service, token: key, type: "application/sdp; charset=utf-8")
    #expect(answer.status == 201, "\(answer.text)")
    #expect(answer.headers["content-type"] == "application/sdp" && answer.text.hasPrefix("v=0"))
    let place = try #require(answer.headers["location"])
    var tag = try #require(answer.headers["etag"])
    #expect(place.hasPrefix("/whip/cam/") && tag.hasPrefix("\""))
    #expect(answer.headers["access-control-allow-origin"] == "*")
    #expect(answer.headers["access-control-expose-headers"]?.contains("Location") == true)
    #expect(
      answer.headers["link"]?.hasPrefix("<turn:turn.example.com>; rel=\"ice-server\"") == true)
    #expect(answer.headers["link"]?.contains("username=\"us:er\"; credential=\"pa\\\"ss\"") == true)
    #expect(janus.rooms.count == 1 && janus.offers == [Self.offer])
    #expect(janus.forwards.map(\.type) == [96, 97])
    #expect(
      Set(janus.forwards.map(\.ssrc)).count == 2 && Set(janus.forwards.map(\.port)).count == 1)

    // A second publisher, also with the admin token.
    #expect(try await Self.publish(service).status == 409)

    let fragment = "a=ice-ufrag:x\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\n"
    func patch(
      _ body: String, tag given: String? = "current",
      type: String = "application/trickle-ice-sdpfrag"
    ) async throws -> Answer {
      var headers = ["Content-Type": type]
      headers["If-Match"] = given == "current" ? tag : given
      return try await service.ask("PATCH", place, body, token: key, headers: headers)
    }
    let sent = try await patch(
      fragment + "a=candidate:1 1 udp 1 10.0.0.9 5000 typ host\r\na=end-of-candidates\r\n")
    #expect(sent.status == 204 && sent.body.isEmpty, "\(sent.text)")
    #expect(
      janus.candidates == [
        ["sdpMid": "0", "candidate": "candidate:1 1 udp 1 10.0.0.9 5000 typ host"],
        ["completed": .bool(true)],
      ])
    #expect(try await patch(fragment, tag: nil).status == 428)
    #expect(try await patch(fragment, tag: "\"other\"").status == 412)
    let crowd = (0...100).map { "a=candidate:\($0) 1 udp 1 10.0.0.9 5000 typ host\n" }.joined()
    #expect(try await patch("a=mid:0\n" + crowd).status == 422)
    #expect(try await patch(fragment, type: "application/sdp").status == 415)
    #expect(try await patch("a=candidate:1").status == 400)
    #expect(try await patch(String(repeating: "a=x\n", count: 20_000)).status == 413)
    // ICE restarts.
    #expect(try await patch(fragment, tag: "*").status == 400)
    let credentials = "a=ice-ufrag:newname\na=ice-pwd:0123456789abcdefghijkl\n"
    janus.answer("configure", with: .silence)
    #expect(try await patch(credentials, tag: "*").status == 503)
    janus.answer("configure", with: nil)
    let restarted = try await patch(credentials, tag: "*")
    #expect(restarted.status == 200, "\(restarted.text)")
    #expect(restarted.text.contains("a=ice-ufrag:janus") && restarted.text.contains("a=candidate:"))
    let offer = try #require(janus.offers.last)
    #expect(offer.contains("a=ice-ufrag:newname\r\n") && !offer.contains("a=ice-ufrag:oldname"))
    #expect(try await patch(fragment).status == 412)
    tag = try #require(restarted.headers["etag"])
    #expect(try await patch(fragment).status == 204)
    janus.answer("trickle", with: .error(458))
    #expect(try await patch("a=mid:0\na=candidate:1").status == 503)

    #expect(try await service.ask("DELETE", place, token: "wrong-token").status == 401)
    let deleted = try await service.ask("DELETE", place, token: key)
    #expect(deleted.status == 200 && deleted.headers["access-control-allow-origin"] == "*")
    #expect(janus.rooms.isEmpty && janus.sessions == 0)
    #expect(try await service.ask("DELETE", place, token: key).status == 404)
    #expect(!service.log.lines.contains("swordfish"))
    try await service.shutDown()
  }

  @Test("Offers that can't be used get a status that says why, and reach no room")
  func offers() async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let service = try await Self.service(janus)
    _ = try await Self.session(service)
    let video = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=rtpmap:96 VP8/90000\r\n"
    let audio = "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\na=rtpmap:111 opus/48000/2\r\n"
    for (offer, status, text) in [
      ("", 400, "session description"), ("{}", 400, "session description"),
      ("v=0\r\nnonsense\r\n", 400, "session description"),
      ("v=0\r\nm=video x RTP 96\r\n", 400, "session description"),
      ("v=0\r\n" + audio, 422, "no video"),
      ("v=0\r\n" + video + video, 422, "several"),
      ("v=0\r\n" + video + audio + audio, 422, "several"),
      ("v=0\r\n" + video.replacing("VP8", with: "AV1"), 422, "H.264, VP8 or VP9"),
      ("v=0\r\n" + video.replacing("a=rtpmap:96", with: "a=rtpmap:95"), 422, "H.264, VP8 or VP9"),
      ("v=0\r\n" + video + "a=recvonly\r\n", 422, "sendonly"),
      (
        "v=0\r\n" + video + "a=rid:h send\r\na=rid:l send\r\na=simulcast:send h;l\r\n", 422,
        "simulcast"
      ),
      ("v=0\r\n" + video + String(repeating: "a=x\r\n", count: 200_000), 413, "larger"),
      ("v=0\r\n" + video + String(repeating: "a=x\r\n", count: 5000), 400, "session description"),
    ] {
      let answer = try await Self.publish(service, offer: offer)
      #expect(
        answer.status == status && answer.text.contains(text), "\(offer.prefix(60)): \(answer.text)"
      )
      #expect(answer.headers["access-control-allow-origin"] == "*")
    }
    #expect(try await Self.publish(service, type: "text/plain").status == 415)
    for token in ["wrong-token", nil] {
      #expect(try await Self.publish(service, token: token).status == 401)
    }
    #expect(!janus.requests.contains("create"))
    // A session by another input, and a service without a WebRTC server.
    try await service.session("file")
    #expect(try await Self.publish(service, "file").status == 409)
    let plain = try await RunningService()
    let made = try await plain.ask("POST", "/v1/sessions", "{\"input\": {\"whip\": {}}}")
    #expect(made.status == 422 && made.text.contains("--webrtc"), "\(made.text)")
    for whip in ["{\"bitrate\": 1}", "{\"bitrate\": \"x\"}", "{\"x\": 1}", "1"] {
      let made = try await plain.ask("POST", "/v1/sessions", "{\"input\": {\"whip\": \(whip)}}")
      #expect(made.status == 400, "\(whip): \(made.text)")
    }
    try await plain.shutDown()
    try await service.shutDown()
  }

  private static let stages = ["session", "attach", "create", "joinandconfigure", "rtp_forward"]

  @Test(
    "A WebRTC server that is slow or answers wrongly gives 503 with Retry-After, and leaves no room",
    arguments: stages)
  func faults(_ stage: String) async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let service = try await Self.service(janus)
    _ = try await Self.session(service)
    #expect(try await waitUntil { janus.requests.contains("leave") })
    var faults: [FakeJanus.Fault] = [
      .silence, .garbage, .wrongStatus, .huge, .disconnects, .error(458), .error(490),
    ]
    switch stage {
    case "create": faults.append(.lacks("room"))
    case "joinandconfigure": faults.append(.lacks("id"))
    default: break
    }
    for fault in faults {
      janus.answer(stage, with: fault)
      let answer = try await Self.publish(service)
      #expect(
        answer.status == 503 && answer.headers["retry-after"] != nil, "\(fault): \(answer.text)")
      let reason = try await service.ask("GET", "/v1/sessions/cam").json["state"].string
      #expect(reason == "waiting")
      janus.answer(stage, with: nil)
      // The room of a creation whose answer was lost is found by its description.
      #expect(try await waitUntil { janus.rooms.isEmpty }, "\(fault)")
    }
    // A session whose creation wasn't answered times out at Janus.
    if stage != "session" { #expect(try await waitUntil { janus.sessions == 0 }) }
    #expect(try await Self.publish(service).status == 201)
    try await service.shutDown()
    #expect(janus.rooms.isEmpty)
  }

  @Test("An offer that the WebRTC server doesn't accept gets 422")
  func refused() async throws {
    let janus = try FakeJanus(codec: "AV1")
    defer { janus.stop() }
    let service = try await Self.service(janus)
    _ = try await Self.session(service)
    #expect(try await Self.publish(service).status == 422)
    janus.answer("joinandconfigure", with: .error(465))
    #expect(try await Self.publish(service).status == 422)
    #expect(try await waitUntil { janus.rooms.isEmpty })
    janus.stop()
    #expect(try await Self.publish(service).status == 503)
    try await service.shutDown()
  }

  @Test("After a hang-up or a restart of the WebRTC server, the publisher can come back")
  func comesBack() async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let service = try await Self.service(janus)
    _ = try await Self.session(service)
    for interrupt in [janus.hangUp, janus.restart] {
      let first = try await Self.publish(service)
      #expect(first.status == 201, "\(first.text)")
      interrupt()
      let place = first.headers["location"] ?? ""
      #expect(
        try await waitUntil { try await service.ask("PATCH", place).status == 404 })
      #expect(try await waitUntil { janus.rooms.isEmpty })
    }
    #expect(try await Self.publish(service).status == 201)
    // The end of the session disconnects its publisher.
    #expect(try await service.ask("DELETE", "/v1/sessions/cam").status == 200)
    #expect(try await Self.isEmpty(janus))
    #expect(try await Self.publish(service).status == 409)
    try await service.shutDown()
  }

  @Test("A publish link works once, for a time, and only for its session")
  func link() async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let service = try await Self.service(janus)
    let key = try await Self.session(service)
    _ = try await Self.session(service, "other")
    func link(_ body: String) async throws -> Answer {
      try await service.ask("POST", "/v1/sessions/cam/publish-url", body)
    }
    func redeem(_ name: String, _ code: String) async throws -> Answer {
      try await service.ask("POST", "/publish/\(name)", token: code)
    }
    for body in ["{}", "{\"seconds\": 0}", "{\"seconds\": 604801}", "{\"seconds\": 1.5}"] {
      #expect(try await link(body).status == 400)
    }
    #expect(try await link(String(repeating: " ", count: 2 << 20)).status == 413)
    // The publish key makes no links.
    let made = try await service.ask(
      "POST", "/v1/sessions/cam/publish-url", "{\"seconds\": 60}", token: key)
    #expect(made.status == 401)
    func code() async throws -> String {
      let answer = try await link("{\"seconds\": 60}")
      #expect(
        answer.json["url"].string?.contains("/publish/cam#") == true,
        "\(answer.text)")
      return String(answer.json["url"].string?.split(separator: "#").last ?? "")
    }
    let first = try await code()
    #expect(first.utf8.count == 16)
    let answer = try await redeem("cam", first)
    let token = try #require(answer.json["token"].string)
    #expect(token != key && answer.json["expires"].int != nil, "\(answer.text)")
    let again = try await redeem("cam", first)
    #expect(again.status == 401 && again.text.contains("used already"), "\(again.text)")
    #expect(try await redeem("other", code()).status == 401)
    #expect(try await redeem("cam", "0123456789abcdef").status == 401)
    // The token sends media and events to its session, and reads nothing.
    let event = "{\"device\": \"portrait\"}"
    for (method, path, status) in [
      ("POST", "/v1/sessions/cam/events", 200), ("POST", "/v1/sessions/other/events", 401),
      ("GET", "/v1/sessions/cam", 401), ("GET", "/v1/sessions/cam/events", 401),
      ("POST", "/v1/sessions/cam/publish-url", 401), ("DELETE", "/v1/sessions/cam", 401),
    ] {
      let answer = try await service.ask(method, path, event, token: token)
      #expect(answer.status == status, "\(method) \(path): \(answer.text)")
    }
    #expect(try await Self.publish(service, "other", token: token).status == 401)
    #expect(try await Self.publish(service, token: token).status == 201)
    // A later session of the same name has other links.
    for _ in 0..<2 { _ = try await service.ask("DELETE", "/v1/sessions/cam") }
    _ = try await Self.session(service)
    #expect(try await Self.publish(service, token: token).status == 401)
    try await service.shutDown()
  }

  @Test("Publish links and their tokens expire, and their number is limited")
  func linkTimes() throws {
    let clock = Clock()
    let links = PublishLinks { clock.now }
    let late = try links.make(publishKey: "k", seconds: 10).code
    let early = try links.make(publishKey: "k", seconds: 10).code
    #expect(links.redeem(early, publishKey: "other") == nil)
    #expect(links.redeem(early, publishKey: "k") == nil, "used, although wrongly")
    let used = try links.make(publishKey: "k", seconds: 10).code
    let token = try #require(links.redeem(used, publishKey: "k")?.token)
    #expect(links.allows(token, publishKey: "k") && !links.allows(token, publishKey: "other"))
    clock.now += 11
    #expect(links.redeem(late, publishKey: "k") == nil)
    clock.now += PublishLinks.tokenSeconds
    #expect(!links.allows(token, publishKey: "k"))
    for _ in 0..<1000 { _ = try links.make(publishKey: "k", seconds: 10) }
    #expect(throws: Problem.self) { try links.make(publishKey: "k", seconds: 10) }
    clock.now += 11
    _ = try links.make(publishKey: "k", seconds: 10)
  }

  private final class Clock: @unchecked Sendable { var now = 1000 }

  @Test("Rooms of an earlier run are destroyed at the start, and no others")
  func leftBehind() async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let scratch = try Scratch()
    let first = try await Self.service(janus, scratch: scratch)
    _ = try await Self.session(first)
    #expect(try await Self.publish(first).status == 201)
    let left = try #require(janus.rooms.values.first)
    try await first.shutDown()
    #expect(janus.rooms.isEmpty)
    // As after a crash.
    _ = janus.addRoom(left)
    let others = [
      janus.addRoom(.init(description: "upright 0123456789abcdef cam x", secret: "x")),
      janus.addRoom(.init(description: "a call", secret: "")),
    ]
    let second = try await Self.service(janus, scratch: scratch)
    #expect(try await waitUntil { Set(janus.rooms.keys) == Set(others) })
    try await second.shutDown()
  }

  @Test("Of fifty publishers at once, one joins and the others get 409")
  func crowd() async throws {
    let janus = try FakeJanus()
    defer { janus.stop() }
    let service = try await Self.service(janus)
    _ = try await Self.session(service)
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await Self.publish(service).status } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.count { $0 == 201 } == 1 && statuses.count { $0 == 409 } == 49, "\(statuses)")
    #expect(janus.rooms.count == 1)
    try await service.shutDown()
    #expect(janus.rooms.isEmpty && janus.sessions == 0)
  }
}
