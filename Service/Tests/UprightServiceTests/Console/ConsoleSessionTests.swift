import Foundation
import UprightOrientation
import Upright
import UprightPolicy
import Testing
import UprightServiceTestSupport

@testable import UprightMediaIO
@testable import UprightService

@Suite("What the console has for its sessions: thumbnails, the sample, links for phones")
struct ConsoleSessionTests {
  /// The responses of the OpenAPI document that occur in these tests.
  static let described: Set<String> = [
    "GET /v1/sessions/{id}/thumbnail 200", "GET /v1/sessions/{id}/thumbnail 404",
    "GET /v1/sessions/{id}/thumbnail 409",
    "POST /v1/sample 200", "POST /v1/sample 201", "POST /v1/sample 503",
    "GET /v1/sessions/{id}/publish-address 200",
  ]

  @Test("A thumbnail is made once for two seconds; without a frame the answer says so", .long)
  func thumbnails() async throws {
    let service = try await RunningService()
    try await service.session()
    let session = service.script.sessions[0]
    let path = "/v1/sessions/one/thumbnail"
    let none = try await service.ask("GET", path)
    #expect(none.status == 404 && none.headers["retry-after"] == "2", "\(none.text)")
    #expect(none.json["detail"].string == "the session has no frame yet")
    session.become(.live)
    session.paint(RGBPicture(size: PixelSize(32, 18), colour: .init(red: 200, green: 30, blue: 60)))
    let first = try await service.ask("GET", path)
    #expect(first.status == 200 && first.headers["content-type"] == "image/jpeg")
    #expect(first.headers["cross-origin-resource-policy"] == "same-origin")
    #expect(first.headers["cache-control"] == "private, max-age=2")
    #expect(try await service.ask("GET", path).body == first.body)
    #expect(session.pictures.withLock { $0 } == 2)
    for token in [nil, "wrong"] {
      #expect(try await service.ask("GET", path, token: token).status == 401)
    }
    session.become(.ended)
    try await Task.sleep(for: .seconds(2))
    #expect(try await service.ask("GET", path).status == 409)
    // A picture of a session isn't shown for a later one of the same name.
    try await service.session()
    #expect(try await service.ask("GET", path).status == 404)
  }

  @Test(
    "The sample starts with one request, turns by itself, and stops when somebody turns it; it starts again",
    .long)
  func sample() async throws {
    let service = try await RunningService()
    #expect(try await service.ask("POST", "/v1/sample", token: nil).status == 401)
    let made = try await service.ask("POST", "/v1/sample")
    #expect(made.status == 201 && made.json["id"].string == "sample", "\(made.text)")
    #expect(made.json["input"]["url"].string == "sample:")
    let session = service.script.sessions[0]
    #expect(!session.configuration.waitsForPublisher)
    func device(_ wanted: DeviceOrientation) async throws -> Bool {
      try await waitUntil { session.policy?.reducer.state.device == wanted }
    }
    session.become(.live)
    #expect(try await device(.landscapeLeft))
    let again = try await service.ask("POST", "/v1/sample")
    #expect(again.status == 200 && service.script.sessions.count == 1)
    let event = "{\"device\": \"landscapeRight\"}"
    let turned = try await service.ask("POST", "/v1/sessions/sample/events", event)
    #expect(turned.status == 200)
    // The event precedes the first frame of a group by a hundredth of a second.
    let at = try #require(turned.json["decisions"][0]["at"].double)
    let place = ((at + 0.01) * 1000).rounded()
    #expect(place.truncatingRemainder(dividingBy: 200) == 0, "\(at)")
    // Longer than it stays as it is.
    try await Task.sleep(for: .milliseconds(3300))
    #expect(session.policy?.reducer.state.device == .landscapeRight)
    _ = try await service.ask("POST", "/v1/sample")
    #expect(try await device(.landscapeLeft))
    #expect(try await service.ask("DELETE", "/v1/sessions/sample").status == 200)
    #expect(try await service.ask("POST", "/v1/sample").status == 201)
    #expect(service.script.sessions.count == 2)
    // It isn't started while the service ends, which waits for another session here.
    try await service.session("other")
    service.script.sessions[2].refuseToStop()
    async let end: Void = service.shutDown()
    #expect(try await waitUntil { service.script.sessions[1].snapshot.state == .ended })
    #expect(try await service.ask("POST", "/v1/sample").status == 503)
    service.script.sessions[2].become(.ended)
    try await end
  }

  @Test("A link for a phone's sensor works with any input, once, and its token only posts events")
  func sensorLink() async throws {
    let service = try await RunningService()
    try await service.session()
    let path = "/v1/sessions/one/sensor-url"
    let made = try await service.ask("POST", path, "{\"seconds\": 60}")
    let link = try #require(made.json["url"].string, "\(made.text)")
    let parts = link.split(separator: "#").map(String.init)
    #expect(parts.count == 2 && parts[0].hasSuffix("/sensor/one") && parts[1].count == 16)
    #expect(!link.contains(RunningService.token))
    let page = try await service.ask("GET", "/sensor/one", token: nil)
    #expect(page.status == 200 && page.text.contains("/console/sensor.js"))
    func redeem() async throws -> Answer {
      try await service.ask("POST", "/publish/one", token: parts[1])
    }
    let token = try #require(try await redeem().json["token"].string)
    #expect(try await redeem().status == 401)
    let gravity = "{\"gravity\": [-1, 0, 0]}"
    for (method, path, body, status) in [
      ("POST", "/v1/sessions/one/events", gravity, 200), ("GET", "/v1/sessions/one", nil, 401),
      ("GET", "/v1/sessions/one/thumbnail", nil, 401), ("POST", "/v1/login", nil, 401),
      ("GET", "/v1/sessions/one/events", nil, 401), ("POST", path, "{\"seconds\": 60}", 401),
      ("POST", "/whip/one", "v=0", 409),
    ] as [(String, String, String?, Int)] {
      let answer = try await service.ask(method, path, body, token: token)
      #expect(answer.status == status, "\(method) \(path): \(answer.text)")
    }
    for body in ["{}", "{\"seconds\": 0}", "{\"seconds\": 60, \"x\": 1}", "1"] {
      #expect(try await service.ask("POST", path, body).status == 400, "\(body)")
    }
    // A publish link needs a session that takes a camera.
    let publish = try await service.ask(
      "POST", "/v1/sessions/one/publish-url", "{\"seconds\": 60}")
    #expect(publish.status == 409)
  }

  @Test(
    "A policy and events that are being typed get their decisions, or the place of the first error")
  func explain() async throws {
    let service = try await RunningService()
    func explained(_ policy: String, _ events: String) async throws -> JSON {
      let body: JSONValue = ["policy": .string(policy), "events": .string(events)]
      let answer = try await service.ask("POST", "/v1/explain", body.compact)
      #expect(answer.status == 200, "\(answer.text)")
      return answer.json
    }
    let turn = "{\"at\": 1, \"device\": \"landscapeLeft\"}\n"
    let done = try await explained("{}", turn + "\n{\"at\": 2, \"lock\": true}")
    #expect(done["error"] == .null && done["start"].string?.contains("`main` decides") == true)
    #expect(done["decisions"].array.map { $0["decision"].string } == ["rotate", "rotate"])
    #expect(done["decisions"][0]["why"].string?.hasPrefix("Rule 8") == true)
    #expect(done["svg"].string?.hasPrefix("<svg ") == true)
    for (policy, events, text, path) in [
      ("{\n  \"devise\": {}\n}", turn, "policy", "devise"),
      ("{\n  x", turn, "policy", "line 2, column 3"),
      (
        "{\"controllers\": {\"a\": {\"supported\": [\"all\", \"x\"]}}}", "", "policy",
        "controllers.a.supported[1]"
      ),
      ("{}", turn + "{\"at\": 0, \"lock\": true}", "events", "line 2"),
      ("{}", turn + "{\"at\": 2, \"pop\": \"x\"}", "events", "line 2"),
      ("{}", "x", "events", "line 1, column 1"),
      (
        "{}", String(repeating: "{\"at\": 1, \"lock\": true}\n", count: 1001), "events", "line 1001"
      ),
    ] {
      let error = try await explained(policy, events)["error"]
      #expect(
        error["in"].string == text && error["path"].string?.hasPrefix(path) == true, "\(error)")
      #expect(error["message"].string?.isEmpty == false && error["remedy"].string?.isEmpty == false)
    }
    for body in [
      "{}", "{\"policy\": {}, \"events\": \"\"}", "[]",
      "{\"policy\": \"{}\", \"events\": \"\", \"x\": 1}",
    ] {
      #expect(try await service.ask("POST", "/v1/explain", body).status == 400, "\(body)")
    }
    let policies = try await service.ask("GET", "/v1/policies").json["policies"].object
    #expect(Set(policies.keys) == Set(PolicyDocument.builtInNames))
  }

  @Test("A QR code has its finder and timing patterns, and grows with the text")
  func codes() throws {
    let small = try #require(QRCode("https://a.example/sensor/one#abcdefghijklmnop"))
    let large = try #require(QRCode(String(repeating: "x", count: 1000)))
    #expect(QRCode(String(repeating: "x", count: 3000)) == nil)
    #expect(small.size < large.size)
    for code in [small, large] {
      let size = code.size
      #expect(size >= 21 && (size - 17) % 4 == 0)
      func isDark(_ x: Int, _ y: Int) -> Bool { code.modules[y * size + x] }
      // ISO/IEC 18004, 6.3.3: rings of 7 and 3 modules in three corners.
      for (x, y) in [(0, 0), (size - 7, 0), (0, size - 7)] {
        for row in 0..<7 {
          for column in 0..<7 {
            let ring = max(abs(row - 3), abs(column - 3))
            #expect(isDark(x + column, y + row) == (ring != 2), "\(x + column), \(y + row)")
          }
        }
      }
      // 6.3.4: alternating modules between them.
      for place in 8..<size - 8 {
        #expect(isDark(place, 6) == (place % 2 == 0) && isDark(6, place) == (place % 2 == 0))
      }
      let path = code.json["path"]
      guard case .string(let text)? = path else {
        Issue.record("no path")
        return
      }
      #expect(text.count(where: { $0 == "M" }) == code.modules.count(where: { $0 }))
    }
  }
}

extension LiveServiceMedia {
  @Suite("A file that is repeated")
  struct RepeatedFileTests {
    /// Costs 7 seconds in `make test`.
    @Test("It plays again and again without a gap, and its thumbnail is the frame that is sent")
    func repeats() async throws {
      let trial = try await LiveServiceFixture(
        "{\"url\": \"file:clip.mp4\", \"repeat\": true}", frames: .sensor(.init())
      ) { service in
        try FFmpegTool.run(
          ["-f", "lavfi", "-i", DecodedFrames.source, "-f", "lavfi", "-i", "sine=f=440:r=44100"]
            + "-t 1.5 -c:v libx264 -preset ultrafast -bf 0 -c:a aac".words
            + [service.scratch.path("data/clip.mp4")])
      }
      try await trial.shows(1)
      let shot = try await trial.service.ask("GET", "/v1/sessions/trial/thumbnail")
      #expect(shot.status == 200, "\(shot.text)")
      let file = trial.service.scratch.path("shot.jpg")
      try Data(shot.body).write(to: URL(fileURLWithPath: file))
      let picture = try DecodedFrames(file, trial.service.scratch)
      // The sensor's frame, turned for a phone held upright.
      #expect(picture.corners == ["tr"] && picture.sizes == [PixelSize(180, 320)])
      try await trial.shows(5.2)
      let counters = try await trial.json["counters"]
      #expect(counters["inputLosses"].int == 0 && counters["dropped"].object.isEmpty)
      let shown = try await trial.playedFrames()
      #expect(shown.times.count > 140, "\(shown.times.count)")
      #expect(shown.longestStep < 0.04 && shown.shortestStep > 0.026, "\(shown.longestStep)")
    }

    @Test(
      "Only a file can be repeated, and only with true or false",
      arguments: [
        ("{\"url\": \"rtmp://127.0.0.1:1/live/key-key-key\", \"repeat\": false}", 422),
        ("{\"url\": \"file:clip.mp4\", \"repeat\": 1}", 400),
        ("{\"whip\": {}, \"repeat\": true}", 400),
      ])
    func refused(_ input: String, _ status: Int) async throws {
      let service = try await RunningService()
      let answer = try await service.ask("POST", "/v1/sessions", "{\"input\": \(input)}")
      #expect(answer.status == status, "\(answer.text)")
    }
  }
}
