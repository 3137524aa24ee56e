import Foundation
import Logging
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

@Suite("The service's configuration")
struct ConfigurationTests {
  private static func file(_ text: String) throws -> (Scratch, String) {
    let scratch = try Scratch()
    let path = scratch.path("config.json")
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return (scratch, path)
  }

  @Test("Flags override the environment, which overrides the file, which overrides the defaults")
  func layers() throws {
    let (scratch, path) = try Self.file(
      "{\"listen\": \"127.0.0.1:1\", \"data\": \"from-file\", \"maxSessions\": 3, \"maxConnections\": 7, "
        + "\"allowHosts\": [\"a.example\", \"*.b.example\"]}")
    let configuration = try ServiceConfiguration(
      flags: ["listen": "[::1]:3"],
      environment: [
        "UPRIGHT_LISTEN": "127.0.0.1:2", "UPRIGHT_MAX_SESSIONS": "4", "UPRIGHT_DATA": "",
        "UPRIGHT_TOKEN": "a-token-of-16-and-more", "OTHER": "x",
      ], file: path)
    #expect(configuration.listen == .init(host: "::1", port: 3))
    #expect(configuration.data == "from-file")
    #expect(configuration.maxSessions == 4 && configuration.maxConnections == 7)
    #expect(configuration.allowHosts == ["a.example", "*.b.example"])
    #expect(configuration.token == "a-token-of-16-and-more")
    #expect(configuration.bodyLimit == 1 << 20 && configuration.drainTimeout == 10)
    let plain = try ServiceConfiguration(flags: [:], environment: [:], file: nil)
    #expect(plain.listen == .init(host: "127.0.0.1", port: 8080) && plain.token == nil)
    _ = scratch
  }

  static let endpoints: [(String, String?)] = [
    ("127.0.0.1:8080", "127.0.0.1:8080"), (":9000", "0.0.0.0:9000"), ("[::1]:80", "[::1]:80"),
    ("localhost", "localhost:8080"), ("0.0.0.0:0", "0.0.0.0:0"), ("a:b", nil), ("a:70000", nil),
    ("", nil), ("a/b", nil), ("http://a", nil),
  ]

  @Test("The forms of the listen address", arguments: endpoints)
  func endpoint(_ text: String, _ read: String?) {
    #expect(ServiceConfiguration.Endpoint(text)?.description == read)
  }

  @Test(
    "The error for an invalid setting contains its name",
    arguments: [
      ("{", "line 1"), ("[]", "config.json"), ("{\"lisen\": 1}", "lisen"),
      ("{\"listen\": \"x:y\"}", "listen"),
      ("{\"publicURL\": \"x.example\"}", "publicURL"), ("{\"maxSessions\": 0}", "maxSessions"),
      ("{\"maxSessions\": \"many\"}", "maxSessions"), ("{\"data\": {}}", "data"),
      ("{\"allowHosts\": [\"http://x\"]}", "allowHosts"), ("{\"sessions\": {}}", "sessions"),
      ("{\"sessions\": [{\"input\": {}}]}", "sessions[0]"), ("{\"tokenFile\": \"/none\"}", "/none"),
      ("{\"token\": \"in-the-file-is-wrong\"}", "token"),
      ("{\"webrtc\": \"127.0.0.1:8088\"}", "webrtc"), ("{\"webrtc\": \"rtmp://a/b\"}", "webrtc"),
      ("{\"webrtcSecretFile\": \"/none\"}", "/none"),
      ("{\"hlsOrigin\": \"ftp://a/live\"}", "hlsOrigin"),
      ("{\"hlsOrigin\": \"http://user:pass@a/live\"}", "hlsOrigin"),
      ("{\"hlsOrigin\": \"http://a/live?key=1\"}", "hlsOrigin"),
      ("{\"hlsOriginTokenFile\": \"/none\"}", "/none"),
      ("{\"hlsOriginTokenFile\": \"/dev/null\"}", "hlsOriginTokenFile"),
      ("{\"iceServers\": [\"stun.example.com\"]}", "iceServers"),
      ("{\"iceServers\": [\"stun:a:b@c\"]}", "iceServers"),
    ])
  func wrong(_ text: String, _ place: String) throws {
    let (scratch, path) = try Self.file(text)
    let error = #expect(throws: UprightError.self) {
      try ServiceConfiguration(flags: [:], environment: [:], file: path)
    }
    #expect(
      error?.code == .configuration && error?.description.contains(place) == true,
      "\(String(describing: error))")
    _ = scratch
  }

  private static func template(_ more: String) -> String {
    "{\"name\": \"live/*\", \"input\": {\"url\": \"rtmp://127.0.0.1:1935\"}\(more)}"
  }

  static let wrongTemplates: [(sessions: String, place: String)] = [
    ("{\"name\": \"*/*\"}", "sessions[0].name"),
    ("{\"name\": \"live/\\u0000*\"}", "sessions[0].name"),
    ("{\"name\": \"/*\"}", "sessions[0].name"), ("{\"name\": \"live//*\"}", "sessions[0].name"),
    ("{\"name\": \"../*\"}", "sessions[0].name"), ("{\"name\": \"live/**\"}", "sessions[0].name"),
    ("{\"name\": \"*/live\"}", "sessions[0].name"), ("{\"name\": \"live/.*\"}", "sessions[0].name"),
    ("{\"name\": \"*\"}", "sessions[0].input"),
    ("{\"name\": \"*\", \"input\": {\"url\": \"udp://127.0.0.1:9\"}}", "sessions[0].input"),
    (
      "{\"name\": \"*\", \"input\": {\"url\": \"rtmp://127.0.0.1:9/live/key\"}}",
      "sessions[0].input"
    ),
    ("{\"name\": \"*\", \"input\": {\"url\": \"rtmp://8.8.8.8:9\"}}", "sessions[0].input"),
    (
      "{\"name\": \"*\", \"input\": {\"url\": \"rtmp://127.0.0.1:9\", \"mode\": \"pull\"}}",
      "sessions[0].input"
    ),
    ("{\"name\": \"*\", \"input\": {\"url\": \"rtmp://0.0.0.0:9\"}}", "add a key, or onPublish"),
    (template(", \"key\": \"short\""), "sessions[0].key"),
    (template(", \"key\": \"with a space\""), "sessions[0].key"),
    (template(", \"key\": 12345678"), "sessions[0].key"),
    (template(", \"policy\": \"nonsense\""), "policy: nonsense"),
    (template(", \"options\": {\"size\": \"huge\"}"), "\"huge\" is not a size: options.size"),
    (template(", \"more\": 1"), "unknown member more"),
    (
      template(", \"outputs\": [{\"type\": \"file\", \"name\": \"{name}/a.mp4\"}]"),
      "output: name must be 1 to 100 letters"
    ),
    (
      template(", \"outputs\": [{\"type\": \"file\", \"name\": \"{name}-{name}-{name}.mp4\"}]"),
      "output: name must be 1 to 100 letters"
    ),
    (template("") + ", " + template(""), "sessions[1].name"),
    (template(", \"onPublish\": {}"), "sessions[0].onPublish"),
    (
      template(", \"onPublish\": {\"url\": \"http://other.example/\"}"),
      "other.example isn't"
    ),
    (template(", \"onPublish\": {\"url\": \"http://hook.example/\", \"timeout\": 0}"), "timeout"),
    (template(", \"onPublish\": {\"url\": \"http://hook.example/\", \"secret\": \"x\"}"), "secret"),
    (
      template(", \"onPublish\": {\"url\": \"http://hook.example/\", \"x\": 1}"), "unknown member x"
    ),
    (template("") + "], \"onPublish\": [", "publish hook: isn't an object"),
  ]

  @Test("The error for an invalid template has its place in the file", arguments: wrongTemplates)
  func wrongTemplate(_ sessions: String, _ place: String) throws {
    let (scratch, path) = try Self.file(
      "{\"allowHosts\": [\"hook.example\"], \"data\": \"DATA\", \"sessions\": [\(sessions)]}")
    var configuration = try ServiceConfiguration(flags: [:], environment: [:], file: path)
    configuration.data = scratch.path("data")
    let error = #expect(throws: UprightError.self) {
      try UprightService(
        configuration, secrets: Secrets(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
    let text = error?.description ?? ""
    #expect(error?.code == .configuration && text.contains(place), "\(text)")
    #expect(error?.location.hasPrefix("\(path), ") == true, "\(text)")
  }

  @Test(
    "Patterns and the streams that they match",
    arguments: [
      ("*", "any/app", "cam", true), ("*", "", "cam", true), ("live/*", "live", "cam", true),
      ("live/*", "tv", "cam", false), ("live/*", "live/a", "b", false),
      ("live/*", "", "live", false),
      ("a/b/*", "a/b", "c", true), ("live/cam-*", "live", "cam-7", true),
      ("live/cam-*", "live", "dog", false), ("*-hd", "x", "cam-hd", true),
      ("cam*cam", "x", "cam", false), ("cam*cam", "x", "camcam", true),
      ("live/*", "LIVE", "cam", false),
    ])
  func patterns(_ text: String, _ app: String, _ name: String, _ isMatch: Bool) throws {
    let pattern = try #require(StreamPattern(text))
    let request = PublishRequest(.init(app: app, name: name), from: "127.0.0.1", over: .rtmp)
    #expect(pattern.matches(request) == isMatch && "\(pattern)" == text)
  }

  @Test("The documented configuration has every setting with a comment, and is read as it was")
  func documented() throws {
    let (scratch, path) = try Self.file(
      "{\"data\": \"here\", \"maxSessions\": 3, \"// maxSessions\": {}, \"allowHosts\": [\"a.example\"], "
        + "\"sessions\": [{\"name\": \"stage\", \"input\": {\"url\": \"file:clip.mp4\"}}], "
        + "\"onPublish\": {\"url\": \"https://hook.example/\"}, \"tokenFile\": null, \"webhooks\": null}"
    )
    let first = try ServiceConfiguration(
      flags: [:], environment: ["UPRIGHT_TOKEN": "a-token-of-16-and-more"], file: path)
    #expect(first.maxSessions == 3 && first.webhooks.isEmpty)
    let text = first.documented.pretty
    for setting in ServiceConfiguration.settings {
      #expect(text.contains("\"\(setting.name)\": ") && text.contains("\"// \(setting.name)\": "))
    }
    #expect(!text.contains("a-token-of"))
    let (other, copy) = try Self.file(text)
    let second = try ServiceConfiguration(flags: [:], environment: [:], file: copy)
    #expect(second.documented == first.documented && second.token == nil)
    #expect(second.data == "here" && second.sessions.count == 1 && second.onPublish != nil)
    _ = (scratch, other)
  }

  @Test("The token is generated once, readable by its owner only, and kept after a restart")
  func token() throws {
    let scratch = try Scratch()
    let folders = DataFolders(root: scratch.path("data"))
    let (first, isNew) = try AdminToken.load(nil, folders)
    #expect(isNew && first.utf8.count == 43)
    let (second, isNewAgain) = try AdminToken.load(nil, folders)
    #expect(second == first && !isNewAgain)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: scratch.path("data/.upright/token"))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try AdminToken.load("given-by-somebody", folders) == ("given-by-somebody", false))
    try Data("short".utf8).write(to: URL(fileURLWithPath: scratch.path("token")))
    #expect(throws: UprightError.self) {
      try ServiceConfiguration(
        flags: ["tokenFile": scratch.path("token")], environment: [:], file: nil)
    }
  }

  @Test(
    "Sessions of the file start with the service, also after a restart; an invalid one is skipped"
  )
  func declared() async throws {
    let scratch = try Scratch()
    try FileManager.default.createDirectory(
      atPath: scratch.path("data"), withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.path("data/clip.mp4")))
    let (other, path) = try Self.file(
      "{\"sessions\": [{\"name\": \"bad\", \"input\": {\"url\": \"file:/etc/passwd\"}}, "
        + "{\"name\": \"stage\", \"input\": {\"url\": \"file:clip.mp4\"}}]}")
    let read = try ServiceConfiguration(flags: [:], environment: [:], file: path)
    for _ in 0..<2 {
      let service = try await RunningService(
        { configuration, _ in configuration.sessions = read.sessions }, scratch: scratch)
      let list = try await service.ask("GET", "/v1/sessions").json["sessions"].array
      #expect(list.map { $0["id"].string } == ["stage"])
      #expect(service.log.lines.contains("can't start the session bad"))
      try await service.shutDown()
    }
    _ = other
  }
}
