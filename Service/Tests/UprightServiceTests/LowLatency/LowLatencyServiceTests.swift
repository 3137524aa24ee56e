import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightMedia
@testable import UprightService

/// Low-latency HLS over HTTP, with playlists that the test publishes. Costs two seconds.
@Suite("Low latency over HTTP")
struct LowLatencyServiceTests {
  private static let path = "/live/one/index.m3u8"

  /// An edition with one complete segment, 4, and parts of segment 5.
  private static func edition(parts: Int, isEnded: Bool = false) -> HLSOrigin.Edition {
    var text = "#EXTM3U\n" + String(repeating: "#EXTINF:2.0,\n4.m4s\n", count: 20)
    for part in 0..<parts { text += "#EXT-X-PART:DURATION=0.3,URI=\"5.\(part).m4s\"\n" }
    return .init(
      text: text, delta: "#EXTM3U\n#EXT-X-SKIP:SKIPPED-SEGMENTS=9\n", lastSegment: 4,
      lastPart: .init(segment: 5, index: parts - 1), hint: "5.\(parts).m4s", targetDuration: 2,
      partTarget: 0.334, isEnded: isEnded)
  }

  private static let part = [UInt8](repeating: 7, count: 5000)

  /// A service with a session whose origin has two parts.
  private static func service(
    _ more: String = "", connections: Int = 1024
  ) async throws -> (RunningService, HLSOrigin) {
    let service = try await RunningService { configuration, _ in
      configuration.maxConnections = connections
    }
    let made = try await service.session("one", ", \"latency\": \"low\"" + more)
    #expect(made.status == 201 && made.json["latency"].string == "low", "\(made.text)")
    let origin = try #require(service.service.sessions.find("one").origin)
    publish(origin, 2)
    return (service, origin)
  }

  private static func publish(_ origin: HLSOrigin, _ parts: Int, isEnded: Bool = false) {
    origin.publish(
      edition(parts: parts, isEnded: isEnded), as: "index.m3u8",
      files: [("5.\(parts - 1).m4s", part)])
  }

  @Test(
    "Playlists and parts have cache headers, tags, ranges and the content coding that is accepted")
  func headers() async throws {
    let (service, _) = try await Self.service()
    let plain = try await service.ask("GET", Self.path, token: nil)
    #expect(plain.status == 200 && plain.text == Self.edition(parts: 2).text)
    #expect(plain.headers["cache-control"] == "public, max-age=1")
    #expect(plain.headers["vary"] == "Accept-Encoding")
    let old = try await service.ask("GET", Self.path + "?_HLS_msn=5&_HLS_part=1", token: nil)
    #expect(old.headers["cache-control"] == "public, max-age=12" && old.text == plain.text)
    let delta = try await service.ask("GET", Self.path + "?_HLS_skip=YES", token: nil)
    #expect(delta.text.contains("EXT-X-SKIP"))
    for coding in ["gzip", "br, gzip;q=0.5", "*"] {
      let packed = try await service.ask(
        "GET", Self.path, token: nil, headers: ["Accept-Encoding": coding])
      #expect(packed.headers["content-encoding"] == "gzip")
      #expect(packed.body.starts(with: [0x1F, 0x8B]) && packed.body.count < plain.body.count / 2)
      let file = service.scratch.path("packed.gz")
      try Data(packed.body).write(to: URL(fileURLWithPath: file))
      #expect(try ExternalTool("gzip").run(["-dc", file]).output == Data(plain.body))
    }
    for coding in ["br", "gzip;q=0", "identity", "*;q=0"] {
      let packed = try await service.ask(
        "GET", Self.path, token: nil, headers: ["Accept-Encoding": coding])
      #expect(packed.headers["content-encoding"] == nil && packed.text == plain.text)
    }
    let tag = try #require(plain.headers["etag"])
    let same = try await service.ask(
      "GET", Self.path, token: nil, headers: ["If-None-Match": tag])
    #expect(same.status == 304 && same.body.isEmpty)

    let part = try await service.ask("GET", "/live/one/5.1.m4s", token: nil)
    #expect(part.status == 200 && part.body == Self.part)
    #expect(part.headers["cache-control"] == "public, max-age=31536000, immutable")
    #expect(part.headers["content-type"] == "video/iso.segment")
    #expect(part.headers["access-control-allow-origin"] == "*")
    let some = try await service.ask(
      "GET", "/live/one/5.1.m4s", token: nil, headers: ["Range": "bytes=4990-"])
    #expect(some.status == 206 && some.body.count == 10)
    let known = try await service.ask(
      "GET", "/live/one/5.1.m4s", token: nil,
      headers: ["If-None-Match": part.headers["etag"] ?? ""])
    #expect(known.status == 304)
    let head = try await service.ask("HEAD", "/live/one/5.1.m4s", token: nil)
    #expect(head.status == 200 && head.headers["content-length"] == "5000" && head.body.isEmpty)
  }

  @Test("A blocked reload and a hinted part are answered when the part is there")
  func blocking() async throws {
    let (service, origin) = try await Self.service()
    async let reload = service.ask("GET", Self.path + "?_HLS_msn=5&_HLS_part=2", token: nil)
    async let hinted = service.ask("GET", "/live/one/5.2.m4s", token: nil)
    #expect(try await waitUntil { origin.waiting == 2 })
    Self.publish(origin, 3)
    let answers = try await (reload, hinted)
    #expect(answers.0.status == 200 && answers.0.text.contains("5.2.m4s"))
    #expect(answers.1.status == 200 && answers.1.body == Self.part)
    // A part that turns out not to come.
    async let never = service.ask("GET", "/live/one/5.3.m4s", token: nil)
    async let late = service.ask("GET", Self.path + "?_HLS_msn=6", token: nil)
    #expect(try await waitUntil { origin.waiting == 2 })
    origin.close("index.m3u8")
    let (missing, unavailable) = try await (never, late)
    #expect(missing.status == 404)
    #expect(unavailable.status == 503 && unavailable.headers["retry-after"] == "1")
  }

  @Test("Several requests on one connection")
  func keepAlive() async throws {
    let (service, _) = try await Self.service()
    let connection = try service.connection()
    try await RunningService.onThread {
      for number in 0..<3 {
        connection.send(
          "GET \(Self.path)?_HLS_msn=5&_HLS_part=\(number % 2) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let all = connection.receive(seconds: 10) {
          String(decoding: $0, as: UTF8.self).components(separatedBy: "5.1.m4s\"\n").count > number
            + 1
        }
        let text = String(decoding: all.bytes, as: UTF8.self)
        #expect(text.components(separatedBy: "HTTP/1.1 200").count == number + 2)
        _ = connection.receive(seconds: 0.05)
      }
    }
  }

  @Test("Directives that are wrong are refused, and none is needed after the end")
  func directives() async throws {
    let (service, origin) = try await Self.service()
    for query in [
      "_HLS_msn=7", "_HLS_msn=-1", "_HLS_msn=x", "_HLS_part=1", "_HLS_msn=1&_HLS_msn=1",
    ] {
      let answer = try await service.ask("GET", "\(Self.path)?\(query)", token: nil)
      #expect(answer.status == 400, "\(query): \(answer.text)")
      #expect(answer.json["detail"].string?.contains("_HLS_") == true)
    }
    #expect(try await service.ask("GET", "/live/one/9.9.m4s", token: nil).status == 404)
    Self.publish(origin, 3, isEnded: true)
    let ended = try await service.ask("GET", Self.path + "?_HLS_msn=99&_HLS_part=7", token: nil)
    #expect(ended.status == 200 && ended.text == Self.edition(parts: 3).text)
    // A session without low latency ignores directives.
    let folder = service.scratch.path("data/live/two")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("#EXTM3U\n".utf8).write(to: URL(fileURLWithPath: folder + "/index.m3u8"))
    let other = try await service.ask("GET", "/live/two/index.m3u8?_HLS_msn=99", token: nil)
    #expect(other.status == 200)
  }

  @Test("A signed URL works with directives, and its playlist has no longer life than the URL")
  func signed() async throws {
    let (service, origin) = try await Self.service(", \"playback\": \"signed\"")
    #expect(
      try await service.ask("GET", Self.path + "?_HLS_msn=5", token: nil).status == 403)
    let made = try await service.ask(
      "POST", "/v1/sessions/one/playback-url", "{\"seconds\": 5}")
    let url = try #require(made.json["url"].string)
    let path = try #require(url.firstRange(of: "/live")).lowerBound
    async let reload = service.ask(
      "GET", url[path...] + "?_HLS_msn=5&_HLS_part=2&_HLS_skip=YES", token: nil)
    #expect(try await waitUntil { origin.waiting == 1 })
    Self.publish(origin, 3)
    let answer = try await reload
    #expect(answer.status == 200 && answer.text.contains("EXT-X-SKIP"))
    let age = answer.headers["cache-control"]?.split(separator: "=").last.flatMap { Int($0) }
    #expect((age ?? .max) <= 5)
  }

  @Test("Only so many requests may wait: the others get 503 at once, and all others are answered")
  func limit() async throws {
    let (service, origin) = try await Self.service(connections: 40)
    let connections = try (0..<20).map { _ in try service.connection() }
    for connection in connections {
      connection.send(
        "GET \(Self.path)?_HLS_msn=5&_HLS_part=2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      )
    }
    // Half of the connections of the service.
    #expect(try await waitUntil { origin.waiting >= 19 })
    for connection in connections.dropFirst(19) { connection.shutDown() }
    #expect(origin.waiting <= 20)
    Self.publish(origin, 3)
    for connection in connections.prefix(19) {
      let answer = try await RunningService.onThread { try Answer(connection.receive().bytes) }
      #expect(answer.status == 200 && answer.text.contains("5.2.m4s"))
    }
    #expect(try await service.ask("GET", Self.path, token: nil).status == 200)

    let blocked = BlockedRequests(connections: 4)
    let gate = AsyncStream<Void>.makeStream()
    let waiting = (0..<2).map { _ in
      Task {
        try await blocked.wait(for: "one") {
          for await _ in gate.stream { break }
          return true
        }
      }
    }
    #expect(
      try await waitUntil {
        do { _ = try await blocked.wait(for: "one") { true } } catch let problem as Problem {
          return problem.status.code == 503 && problem.retryAfter == 1
        }
        return false
      })
    // Another session may use the rest.
    #expect(try await blocked.wait(for: "two") { true })
    gate.continuation.finish()
    for task in waiting { #expect(try await task.value) }
    #expect(try await blocked.wait(for: "one") { true })
  }

  @Test("latency and part are checked")
  func settings() async throws {
    let service = try await RunningService()
    for value in ["\"fast\"", "1", "true", "null"] {
      #expect(try await service.session("x", ", \"latency\": \(value)").status == 400)
    }
    let made = try await service.session("y", ", \"latency\": \"normal\"")
    #expect(made.json["latency"].string == "normal")
    #expect(throws: (any Error).self) {
      try ServiceConfiguration(flags: ["part": "3"], environment: [:], file: nil)
    }
    let part = try ServiceConfiguration(
      flags: [:], environment: ["UPRIGHT_PART": "0.5"], file: nil
    ).part
    #expect(part == 0.5)
  }
}
