import Foundation
import Hummingbird
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("The OpenAPI document matches the service")
struct OpenAPITests {
  private static func document() throws -> JSON {
    try JSON(yaml: StatusRoutes.description(at: .relative))
  }

  @Test("Every route and method of the router is described, and nothing else")
  func routes() async throws {
    let service = try await RunningService()
    let document = try Self.document()
    var described: Set<String> = []
    for (path, item) in document["paths"].object {
      for method in item.object.keys where method != "parameters" {
        described.insert("\(method.uppercased()) \(path)")
      }
    }
    let routed = Set(
      service.service.router.routes.map { route in
        let path = route.path.description.split(separator: "/").map {
          // The rest of a path, with its slashes.
          $0 == "**" ? "{path}" : $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0)
        }
        return "\(route.method.rawValue) /\(path.joined(separator: "/"))"
      })
    #expect(described == routed)
    #expect(
      try await JSON(yaml: service.ask("GET", "/openapi.yaml", token: nil).text)["paths"]
        == document["paths"])
  }

  @Test("The options of a session are those of the table, with their help")
  func options() throws {
    let described = try Self.document()["components"]["schemas"]["Options"]["properties"].object
    let table = TranscodeOption.all.filter { $0.scope != .files }
    #expect(
      described.mapValues { $0["description"].string ?? "" }
        == Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0.help) }))
    #expect(
      table.filter { $0.form == .flag }.map(\.name).allSatisfy {
        described[$0]?["type"].string == "boolean"
      })
  }

  @Test("Every operation has a name of its own, and a path's parameters are all described")
  func operations() throws {
    let document = try Self.document()
    var names: [String] = []
    for (path, item) in document["paths"].object {
      let described = item["parameters"].array.map { parameter in
        let shared = parameter["$ref"].string?.split(separator: "/").last.map(String.init) ?? ""
        return parameter["name"].string
          ?? document["components"]["parameters"][shared]["name"].string
      }
      #expect(described == path.matches(of: /\{([a-z]+)\}/).map { String($0.1) }, "\(path)")
      for (method, operation) in item.object where method != "parameters" {
        names.append(operation["operationId"].string ?? "\(method) \(path)")
      }
    }
    #expect(Set(names).count == names.count)
    #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z][A-Za-z]+/) != nil }, "\(names.sorted())")
  }

  /// A request, with the path template and the status of its response in the document.
  private struct Exchange {
    var method: String
    var path: String
    var template: String
    var status: Int
    var body: String?
    var token: String? = RunningService.token
    var headers: [String: String] = [:]
  }

  private static let event = "/v1/sessions/{id}/events"
  private static let one = "/v1/sessions/{id}"
  private static let outputs = "/v1/sessions/{id}/outputs"
  private static let output = "/v1/sessions/{id}/outputs/{output}"
  private static let file = "/live/{id}/{name}"
  private static let signed = "/live/{id}/~{signature}/{name}"
  private static let playback = "/v1/sessions/{id}/playback-url"
  private static let recording = "/v1/recordings/{id}"
  private static let library = "/vod/{path}"
  private static let whip = "/whip/{id}"
  private static let publication = "/whip/{id}/{publication}"
  private static let link = "/v1/sessions/{id}/publish-url"
  private static let page = "/publish/{id}"
  private static let console = "/console/{name}"
  private static let long = String(repeating: " ", count: 5000)
  private static let session = "{\"name\": \"NAME\", \"input\": {\"url\": \"file:clip.mp4\"}}"
  private static let hook = "{\"url\": \"https://example.com/hook\"}"

  /// In order: later requests depend on earlier ones.
  private static let exchanges: [Exchange] = {
    func named(_ name: String) -> String { session.replacing("NAME", with: name) }
    let here = "/v1/sessions/a/outputs"
    var list: [Exchange] = [
      .init(method: "GET", path: "/", template: "/", status: 200, token: nil),
      .init(method: "GET", path: "/healthz", template: "/healthz", status: 200, token: nil),
      .init(method: "GET", path: "/readyz", template: "/readyz", status: 200, token: nil),
      .init(
        method: "GET", path: "/openapi.yaml", template: "/openapi.yaml", status: 200, token: nil),
      .init(method: "GET", path: "/metrics", template: "/metrics", status: 200),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 201,
        body: named("a")),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 409,
        body: named("a")),
      .init(method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 400, body: "{"),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 413, body: long),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 422,
        body: "{\"input\": {\"url\": \"data:x\"}}"),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 429,
        body: named("b")),
      .init(method: "GET", path: "/v1/sessions", template: "/v1/sessions", status: 200),
      .init(method: "GET", path: "/v1/sessions?limit=0", template: "/v1/sessions", status: 400),
      .init(method: "GET", path: "/v1/sessions/a", template: one, status: 200),
      .init(method: "GET", path: "/v1/sessions/x", template: one, status: 404),
      .init(
        method: "POST", path: "/v1/sessions/a/events", template: event, status: 200,
        body: "{\"device\": \"landscapeLeft\"}"),
      .init(method: "POST", path: "/v1/sessions/a/events", template: event, status: 400, body: "{"),
      .init(
        method: "POST", path: "/v1/sessions/a/events", template: event, status: 413, body: long),
      .init(
        method: "POST", path: "/v1/sessions/a/events", template: event, status: 422,
        body: "{\"device\": \"x\"}"),
      .init(
        method: "POST", path: "/v1/sessions/x/events", template: event, status: 404, body: "{}"),
      .init(method: "GET", path: "/v1/sessions/x/events", template: event, status: 404),
      .init(method: "DELETE", path: "/v1/sessions/x", template: one, status: 404),
      .init(method: "DELETE", path: "/v1/sessions/a?continues=1", template: one, status: 400),
      .init(
        method: "PUT", path: "/v1/lease", template: "/v1/lease", status: 200,
        body: "{\"seconds\": 60}"),
      .init(method: "PUT", path: "/v1/lease", template: "/v1/lease", status: 400, body: "{}"),
      .init(method: "PUT", path: "/v1/lease", template: "/v1/lease", status: 413, body: long),
      .init(method: "GET", path: "/live/a/index.m3u8", template: file, status: 200, token: nil),
      .init(
        method: "GET", path: "/live/a/s.m4s", template: file, status: 206, token: nil,
        headers: ["Range": "bytes=0-1"]),
      .init(
        method: "GET", path: "/live/a/s.m4s", template: file, status: 416, token: nil,
        headers: ["Range": "bytes=99-"]),
      .init(
        method: "GET", path: "/live/a/s.m4s", template: file, status: 304, token: nil,
        headers: ["If-None-Match": "*"]),
      .init(method: "GET", path: "/live/a/x.m4s", template: file, status: 404, token: nil),
      .init(method: "OPTIONS", path: "/live/a/s.m4s", template: file, status: 204, token: nil),
      .init(
        method: "POST", path: "/v1/webhooks", template: "/v1/webhooks", status: 201, body: hook),
      .init(
        method: "POST", path: "/v1/webhooks", template: "/v1/webhooks", status: 400, body: "[]"),
      .init(
        method: "POST", path: "/v1/webhooks", template: "/v1/webhooks", status: 413, body: long),
      .init(
        method: "POST", path: "/v1/webhooks", template: "/v1/webhooks", status: 422,
        body: "{\"url\": \"https://other.net/\"}"),
      .init(
        method: "POST", path: "/v1/webhooks", template: "/v1/webhooks", status: 429, body: hook),
      .init(method: "GET", path: "/v1/webhooks", template: "/v1/webhooks", status: 200),
      .init(
        method: "DELETE", path: "/v1/webhooks/HOOK", template: "/v1/webhooks/{id}", status: 204),
      .init(
        method: "DELETE", path: "/v1/webhooks/HOOK", template: "/v1/webhooks/{id}", status: 404),
      .init(
        method: "PATCH", path: "/v1/sessions/a", template: one, status: 200,
        body: "{\"options\": {\"fit\": \"fill\"}}"),
      .init(method: "PATCH", path: "/v1/sessions/a", template: one, status: 400, body: "{}"),
      .init(
        method: "PATCH", path: "/v1/sessions/a", template: one, status: 412,
        body: "{\"policy\": \"pad\"}", headers: ["If-Match": "\"another\""]),
      .init(method: "PATCH", path: "/v1/sessions/x", template: one, status: 404, body: "{}"),
      .init(method: "PATCH", path: "/v1/sessions/a", template: one, status: 413, body: long),
      .init(
        method: "PATCH", path: "/v1/sessions/a", template: one, status: 422,
        body: "{\"options\": {\"fitt\": \"fill\"}}"),
      .init(method: "GET", path: here, template: outputs, status: 200),
      .init(method: "GET", path: "/v1/sessions/x/outputs", template: outputs, status: 404),
      .init(
        method: "POST", path: here, template: outputs, status: 201,
        body: "{\"id\": \"take\", \"type\": \"file\", \"name\": \"take.mp4\"}"),
      .init(method: "POST", path: here, template: outputs, status: 400, body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/x/outputs", template: outputs, status: 404, body: "{}"),
      .init(
        method: "POST", path: here, template: outputs, status: 409, body: "{\"type\": \"hls\"}"),
      .init(method: "POST", path: here, template: outputs, status: 413, body: long),
      .init(
        method: "POST", path: here, template: outputs, status: 422,
        body: "{\"type\": \"rtmp\", \"url\": \"http://127.0.0.1/x\"}"),
      .init(method: "GET", path: here + "/take", template: output, status: 200),
      .init(method: "POST", path: "/whip/a", template: whip, status: 409, body: "v=0"),
      .init(method: "POST", path: "/whip/x", template: whip, status: 404, body: "v=0"),
      .init(method: "OPTIONS", path: "/whip/a", template: whip, status: 204, token: nil),
      .init(
        method: "POST", path: "/v1/sessions/a/publish-url", template: link, status: 409, body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/x/publish-url", template: link, status: 404, body: "{}"),
      .init(method: "GET", path: "/publish/a", template: page, status: 200, token: nil),
      .init(method: "POST", path: "/publish/a", template: page, status: 401),
      .init(method: "GET", path: "/console/app.js", template: console, status: 200, token: nil),
      .init(
        method: "GET", path: "/console/style.css", template: console, status: 304, token: nil,
        headers: ["If-None-Match": "*"]),
      .init(method: "GET", path: "/console/x", template: console, status: 404, token: nil),
      .init(method: "GET", path: "/v1/policies", template: "/v1/policies", status: 200),
      .init(
        method: "POST", path: "/v1/explain", template: "/v1/explain", status: 200,
        body: "{\"policy\": \"{}\", \"events\": \"{\\\"at\\\": 1, \\\"lock\\\": true}\"}"),
      .init(method: "POST", path: "/v1/explain", template: "/v1/explain", status: 400, body: "{}"),
      .init(method: "POST", path: "/v1/explain", template: "/v1/explain", status: 413, body: long),
      .init(
        method: "POST", path: "/v1/sample", template: "/v1/sample", status: 429),
      .init(
        method: "GET", path: "/v1/sessions/a/thumbnail", template: one + "/thumbnail", status: 404),
      .init(
        method: "POST", path: "/v1/sessions/a/sensor-url", template: one + "/sensor-url",
        status: 200, body: "{\"seconds\": 60}"),
      .init(
        method: "POST", path: "/v1/sessions/a/sensor-url", template: one + "/sensor-url",
        status: 400, body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/x/sensor-url", template: one + "/sensor-url",
        status: 404, body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/a/sensor-url", template: one + "/sensor-url",
        status: 413, body: long),
      .init(method: "GET", path: "/sensor/a", template: "/sensor/{id}", status: 200, token: nil),
      .init(method: "GET", path: "/watch/a", template: "/watch/{id}", status: 200, token: nil),
      .init(
        method: "GET", path: "/v1/sessions/a/publish-address", template: one + "/publish-address",
        status: 409),
      .init(
        method: "GET", path: "/v1/sessions/x/publish-address", template: one + "/publish-address",
        status: 404),
      .init(method: "POST", path: "/v1/login", template: "/v1/login", status: 204),
      .init(method: "DELETE", path: "/v1/login", template: "/v1/login", status: 204),
      .init(method: "GET", path: "/v1/sessions/a/policy", template: one + "/policy", status: 200),
      .init(method: "GET", path: "/v1/sessions/x/policy", template: one + "/policy", status: 404),
      .init(method: "GET", path: "/v1/sessions/a/events?after=x", template: event, status: 400),
      .init(method: "PATCH", path: "/whip/x/b", template: publication, status: 404, body: ""),
      .init(method: "DELETE", path: "/whip/x/b", template: publication, status: 404),
      .init(method: "OPTIONS", path: "/whip/a/b", template: publication, status: 204, token: nil),
      .init(method: "GET", path: here + "/x", template: output, status: 404),
      .init(method: "POST", path: here + "/take/stop", template: output + "/stop", status: 200),
      .init(method: "POST", path: here + "/x/stop", template: output + "/stop", status: 404),
      .init(method: "POST", path: here + "/take/start", template: output + "/start", status: 200),
      .init(method: "POST", path: here + "/x/start", template: output + "/start", status: 404),
      .init(method: "DELETE", path: here + "/take", template: output, status: 200),
      .init(method: "DELETE", path: here + "/take", template: output, status: 404),
      .init(method: "DELETE", path: "/v1/sessions/a", template: one, status: 200),
      .init(
        method: "PATCH", path: "/v1/sessions/a", template: one, status: 409,
        body: "{\"policy\": \"pad\"}"),
      .init(method: "DELETE", path: here + "/hls", template: output, status: 409),
      .init(method: "POST", path: here + "/hls/start", template: output + "/start", status: 409),
      .init(method: "POST", path: here + "/hls/stop", template: output + "/stop", status: 409),
      .init(
        method: "POST", path: "/v1/sessions/a/events", template: event, status: 409,
        body: "{\"lock\": true}"),
      .init(method: "GET", path: "/v1/sessions/a/events", template: event, status: 200),
      .init(method: "DELETE", path: "/v1/sessions/a", template: one, status: 204),
      .init(
        method: "POST", path: "/v1/sessions", template: "/v1/sessions", status: 201,
        body: "{\"name\": \"p\", \"playback\": \"signed\", \"input\": {\"url\": \"file:clip.mp4\"}}"
      ),
      .init(
        method: "POST", path: "/v1/sessions/p/playback-url", template: playback, status: 200,
        body: "{\"seconds\": 60}"),
      .init(
        method: "POST", path: "/v1/sessions/p/playback-url", template: playback, status: 400,
        body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/x/playback-url", template: playback, status: 404,
        body: "{}"),
      .init(
        method: "POST", path: "/v1/sessions/p/playback-url", template: playback, status: 413,
        body: long),
      .init(method: "GET", path: "/live/p/index.m3u8", template: file, status: 403, token: nil),
      .init(method: "GET", path: "FOLDER/index.m3u8", template: signed, status: 200, token: nil),
      .init(
        method: "GET", path: "FOLDER/s.m4s", template: signed, status: 206, token: nil,
        headers: ["Range": "bytes=0-1"]),
      .init(
        method: "GET", path: "FOLDER/s.m4s", template: signed, status: 416, token: nil,
        headers: ["Range": "bytes=99-"]),
      .init(
        method: "GET", path: "FOLDER/s.m4s", template: signed, status: 304, token: nil,
        headers: ["If-None-Match": "*"]),
      .init(method: "GET", path: "FOLDER/x.m4s", template: signed, status: 404, token: nil),
      .init(method: "GET", path: "FOLDERx/s.m4s", template: signed, status: 403, token: nil),
      .init(method: "OPTIONS", path: "FOLDER/s.m4s", template: signed, status: 204, token: nil),
      .init(method: "GET", path: "/vod", template: "/vod", status: 200),
      .init(method: "GET", path: "/vod?limit=0", template: "/vod", status: 400),
      .init(method: "GET", path: "/vod/a.mp4/index.m3u8", template: library, status: 415),
      .init(method: "GET", path: "/vod/x.mp4/index.m3u8", template: library, status: 404),
      .init(method: "GET", path: "/vod/a.mp4/index.m3u8?size=1", template: library, status: 400),
      .init(
        method: "GET", path: "/vod/a.mp4/master.m3u8?ladder=720p,1", template: library, status: 400),
      .init(
        method: "GET", path: "/vod/a.mp4/master.m3u8?ladder=720p,720p", template: library,
        status: 400),
      .init(method: "GET", path: "/vod/a.mp4/master.m3u8?hdr=no", template: library, status: 400),
      .init(method: "GET", path: "/vod/a.mp4/master.m3u8", template: library, status: 415),
      .init(method: "GET", path: "/vod/a.mp4/sprites.vtt", template: library, status: 415),
      .init(
        method: "GET", path: "/vod/a.mp4/0123456789abcdef-auto/0.m4s", template: library,
        status: 410),
      .init(method: "GET", path: "/vod/a.mp4/~1.k1.x/index.m3u8", template: library, status: 403),
      .init(
        method: "OPTIONS", path: "/vod/a.mp4/index.m3u8", template: library, status: 204, token: nil
      ),
      .init(
        method: "POST", path: "/v1/vod/a.mp4/playback-url", template: "/v1" + library, status: 200,
        body: "{\"seconds\": 60}"),
      .init(
        method: "POST", path: "/v1/vod/a.mp4/playback-url", template: "/v1" + library, status: 400,
        body: "{}"),
      .init(
        method: "POST", path: "/v1/vod/x.mp4/playback-url", template: "/v1" + library, status: 404,
        body: "{\"seconds\": 60}"),
      .init(
        method: "POST", path: "/v1/vod/a.mp4/playback-url", template: "/v1" + library, status: 413,
        body: long),
      .init(method: "GET", path: "/v1/recordings", template: "/v1/recordings", status: 200),
      .init(
        method: "GET", path: "/v1/recordings?limit=0", template: "/v1/recordings", status: 400),
      .init(method: "GET", path: "/v1/recordings/p~take.mp4", template: recording, status: 200),
      .init(method: "GET", path: "/v1/recordings/p~x.mp4", template: recording, status: 404),
      .init(
        method: "GET", path: "/v1/recordings/p~take.mp4/file", template: recording + "/file",
        status: 200),
      .init(
        method: "GET", path: "/v1/recordings/p~take.mp4/file", template: recording + "/file",
        status: 206, headers: ["Range": "bytes=0-1"]),
      .init(
        method: "GET", path: "/v1/recordings/p~take.mp4/file", template: recording + "/file",
        status: 304, headers: ["If-None-Match": "*"]),
      .init(
        method: "GET", path: "/v1/recordings/p~take.mp4/file", template: recording + "/file",
        status: 416, headers: ["Range": "bytes=99-"]),
      .init(
        method: "GET", path: "/v1/recordings/p~x.mp4/file", template: recording + "/file",
        status: 404),
      .init(method: "DELETE", path: "/v1/recordings/p~take.mp4", template: recording, status: 204),
      .init(method: "DELETE", path: "/v1/recordings/p~take.mp4", template: recording, status: 404),
    ]
    for (method, path, template) in [
      ("GET", "/metrics", "/metrics"), ("POST", "/v1/login", "/v1/login"),
      ("DELETE", "/v1/login", "/v1/login"), ("POST", "/v1/sample", "/v1/sample"),
      ("GET", "/v1/policies", "/v1/policies"), ("POST", "/v1/explain", "/v1/explain"),
      ("GET", "/v1/sessions/a/policy", one + "/policy"),
      ("GET", "/v1/sessions/a/thumbnail", one + "/thumbnail"),
      ("POST", "/v1/sessions/a/sensor-url", one + "/sensor-url"),
      ("GET", "/v1/sessions/a/publish-address", one + "/publish-address"),
      ("POST", "/v1/sessions", "/v1/sessions"),
      ("GET", "/v1/sessions", "/v1/sessions"), ("GET", "/v1/sessions/a", one),
      ("DELETE", "/v1/sessions/a", one), ("PATCH", "/v1/sessions/a", one),
      ("GET", here, outputs), ("POST", here, outputs), ("GET", here + "/a", output),
      ("DELETE", here + "/a", output), ("POST", here + "/a/start", output + "/start"),
      ("POST", here + "/a/stop", output + "/stop"), ("POST", "/v1/sessions/a/events", event),
      ("GET", "/v1/sessions/a/events", event),
      ("POST", "/v1/sessions/a/playback-url", playback), ("POST", "/v1/webhooks", "/v1/webhooks"),
      ("GET", "/v1/webhooks", "/v1/webhooks"), ("DELETE", "/v1/webhooks/a", "/v1/webhooks/{id}"),
      ("GET", "/v1/recordings", "/v1/recordings"), ("GET", "/v1/recordings/a", recording),
      ("DELETE", "/v1/recordings/a", recording), ("PUT", "/v1/lease", "/v1/lease"),
      ("GET", "/v1/recordings/a/file", recording + "/file"),
      ("POST", "/v1/sessions/a/publish-url", link),
      ("POST", "/whip/a", whip), ("PATCH", "/whip/a/b", publication),
      ("DELETE", "/whip/a/b", publication), ("GET", "/vod", "/vod"),
      ("GET", "/vod/a.mp4/index.m3u8", library),
      ("POST", "/v1/vod/a.mp4/playback-url", "/v1" + library),
    ] {
      list.append(.init(method: method, path: path, template: template, status: 401, token: nil))
    }
    return list
  }()

  /// The responses that other tests cover, because they need a separate service: too many readers, changes or
  /// outputs, startup and shutdown, sessions with low latency.
  private static let elsewhere = WHIPTests.described.union(ConsoleTests.described)
    .union(ConsoleSessionTests.described).union(LibraryServiceTests.described).union([
      "GET \(event) 429", "PATCH \(one) 429", "POST \(outputs) 429", "GET /readyz 503",
      "POST /v1/sessions 503", "DELETE \(recording) 409", "GET \(file) 400", "GET \(file) 503",
      "GET \(signed) 400", "GET \(signed) 503",
    ])

  @Test(
    "Every described status occurs, with a body that matches its description; HEAD has it without the body"
  )
  func answers() async throws {
    let document = try Self.document()
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.path("library"), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("library/a.mp4")))
    let service = try await RunningService { configuration, dependencies in
      configuration.maxSessions = 1
      configuration.bodyLimit = 4096
      configuration.allowHosts = ["example.com"]
      dependencies.webhooks.hooks = 1
      dependencies.program = ServiceProcess.program
      configuration.library = scratch.path("library")
    }
    try Data("x".utf8).write(to: URL(fileURLWithPath: service.scratch.path("data/clip.mp4")))
    var seen: Set<String> = []
    var (hook, folder) = ("", "")
    for exchange in Self.exchanges {
      let answer = try await service.ask(
        exchange.method,
        exchange.path.replacing("HOOK", with: hook).replacing("FOLDER", with: folder),
        exchange.body,
        token: exchange.token, headers: exchange.headers)
      let name = "\(exchange.method) \(exchange.template) \(exchange.status)"
      #expect(answer.status == exchange.status, "\(name): \(answer.text)")
      seen.insert(name)
      try Self.check(answer, exchange.method, exchange.template, document)
      if exchange.method == "GET", exchange.headers["Range"] == nil {
        let head = try await service.ask(
          "HEAD", exchange.path.replacing("FOLDER", with: folder), token: exchange.token,
          headers: exchange.headers)
        #expect(head.status == exchange.status && head.body.isEmpty, "HEAD \(exchange.path)")
      }
      if exchange.path == "/v1/webhooks", answer.status == 201 {
        hook = answer.json["id"].string ?? ""
      }
      if exchange.template == Self.playback, answer.status == 200 {
        folder = String(answer.json["url"].string?.dropLast("/index.m3u8".count) ?? "")
      }
      if exchange.path == "/v1/sessions", answer.status == 201 {
        let folder = service.scratch.path("data/live/\(answer.json["id"].string ?? "")")
        try Data("#EXTM3U\n".utf8).write(to: URL(fileURLWithPath: folder + "/index.m3u8"))
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: folder + "/s.m4s"))
        let takes = service.scratch.path("data/recordings/p")
        try FileManager.default.createDirectory(atPath: takes, withIntermediateDirectories: true)
        try Data("0123456789".utf8).write(to: URL(fileURLWithPath: takes + "/take.mp4"))
      }
    }
    var described: Set<String> = []
    for (path, item) in document["paths"].object {
      for (method, operation) in item.object where method != "parameters" {
        for status in operation["responses"].object.keys {
          described.insert("\(method.uppercased()) \(path) \(status)")
        }
      }
    }
    #expect(seen.union(Self.elsewhere) == described)
  }

  /// Checks a response's content type and body against its description.
  private static func check(
    _ answer: Answer, _ method: String, _ template: String, _ document: JSON
  ) throws {
    var response = document["paths"][template][method.lowercased()]["responses"]["\(answer.status)"]
    if let reference = response["$ref"].string {
      let name = String(reference.split(separator: "/").last ?? "")
      response = document["components"]["responses"][name]
    }
    let contents = response["content"].object
    guard !contents.isEmpty else {
      #expect(answer.body.isEmpty, "\(method) \(template)")
      return
    }
    let type = answer.headers["content-type"]?.prefix { $0 != ";" }.description ?? ""
    let content = try #require(contents[type], "\(method) \(template) \(answer.status): \(type)")
    guard type.hasSuffix("json") else { return }
    var members = content["schema"].object
    members["$defs"] = document["components"]["schemas"]
    let fault = try JSONSchema(.object(members)).fault(in: answer.json)
    #expect(fault == nil, "\(method) \(template) \(answer.status): \(answer.text)")
  }

  @Test("Too many readers of an event stream get 429")
  func readers() async throws {
    let service = try await RunningService()
    try await service.session()
    var readers: [LocalConnection] = []
    for _ in 0..<64 {
      let reader = try service.connection()
      reader.send(
        "GET /v1/sessions/one/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(RunningService.token)\r\n\r\n"
      )
      readers.append(reader)
    }
    for reader in readers {
      _ = try await RunningService.onThread { reader.text(until: "event: state") }
    }
    #expect(try await service.ask("GET", "/v1/sessions/one/events").status == 429)
  }
}
